#!/usr/bin/perl
# The kernel's project quotas: a limit for all files with one project ID. Node.js can call neither
# ioctl nor quotactl, and perl is part of every Debian image. quotactl_fd takes a folder instead of
# a device, which a container does not have. It works alike on ext4 and XFS.
#
#   state FOLDER                           prints enforced, off or denied
#   assign BYTES INODES PARENT FOLDER…     gives empty folders of PARENT an ID and its limits
#   usage FOLDER                           prints bytes, inodes and their limits; nothing without ID
#   release FOLDER                         removes the limits of the folder's ID

use strict;
use warnings;
use Errno qw(ENOENT EPERM EACCES);

my ($GETXATTR, $SETXATTR, $QUOTACTL_FD) = (0x801c581f, 0x401c5820, 443);
my ($GETQUOTA, $SETLIMITS, $GETSTATE) = map { ($_ << 8) | 2 } 0x5803, 0x5804, 0x5808;
my ($INHERIT, $ENFORCED, $ALL_LIMITS, $BLOCK) = (0x200, 0x20, 0xf, 512);
# fsxattr: flags, extent size, extents, project ID, padding
my $FSXATTR = 'L L L L x12';
# fs_disk_quota: version, type, field mask, ID; limits of blocks and inodes; their use; other fields
my $QUOTA = 'c c S L Q4 Q2 x56';

my ($command, @arguments) = @ARGV;
my %commands = (state => \&state, assign => \&assign, usage => \&usage, release => \&release);
($commands{$command // ''} // die "unknown command\n")->(@arguments);

sub state {
  my $folder = opened(shift);
  my $state = pack 'c x2047', 1;
  return print "off\n" if quotactl($folder, $GETSTATE, 0, $state) < 0;
  return print "off\n" unless unpack('x2 S', $state) & $ENFORCED;
  # An empty mask changes nothing. The kernel checks the permission first.
  my $nothing = pack $QUOTA, 1, 2, 0, 0x7fffffff, (0) x 6;
  print quotactl($folder, $SETLIMITS, 0x7fffffff, $nothing) < 0 ? "denied\n" : "enforced\n";
}

# The folders keep the ID, so a second call continues with the same one.
sub assign {
  my ($bytes, $inodes, $parent, @folders) = @_;
  my $shared = opened("$parent/..");
  flock $shared, 2 or die "lock $parent/..: $!\n";
  my @opened = map { opened("$parent/$_") } @folders;
  my $id = projectOf($opened[0]) || unusedId($opened[0], (stat $opened[0])[1]);
  for my $folder (@opened) {
    my ($flags, $size, $extents) = unpack $FSXATTR, attributesOf($folder);
    my $changed = pack $FSXATTR, $flags | $INHERIT, $size, $extents, $id;
    ioctl $folder, $SETXATTR, $changed or die "project of $parent: $!\n";
  }
  limit($opened[0], $id, $bytes, $inodes);
}

sub usage {
  my $folder = opened(shift);
  my $id = projectOf($folder) or return;
  my (undef, undef, undef, undef, $bytes, undef, $inodes, undef, @used) = recordOf($folder, $id);
  print join(' ', $used[0] * $BLOCK, $used[1], $bytes * $BLOCK, $inodes), "\n";
}

sub release {
  my $path = shift;
  return unless -d $path;
  my $folder = opened($path);
  my $id = projectOf($folder) or return;
  limit($folder, $id, 0, 0);
}

# The inode number is unique on the file system while the folder exists. The upper half of the IDs
# keeps a distance from those of other programs, which count from 1. The record of an ID in use has
# files or limits.
sub unusedId {
  my ($folder, $inode) = @_;
  for my $try (0 .. 999) {
    my $id = 2**31 + ($inode + $try * 1_000_003) % (2**31 - 1);
    return $id unless grep { $_ } (recordOf($folder, $id))[4 .. 9];
  }
  die "no unused project ID\n";
}

sub limit {
  my ($folder, $id, $bytes, $inodes) = @_;
  my $blocks = int($bytes / $BLOCK);
  my $limits = pack $QUOTA, 1, 2, $ALL_LIMITS, $id, $blocks, 0, $inodes, 0, 0, 0;
  quotactl($folder, $SETLIMITS, $id, $limits) >= 0 or die "limits of project $id: $!\n";
}

sub recordOf {
  my ($folder, $id) = @_;
  my $record = pack $QUOTA, (0) x 10;
  return unpack $QUOTA, $record if quotactl($folder, $GETQUOTA, $id, $record) >= 0;
  die "quota of project $id: $!\n" unless $! == ENOENT;
  return (0) x 10;
}

sub projectOf { return (unpack $FSXATTR, attributesOf(shift))[3] }

sub attributesOf {
  my $folder = shift;
  my $attributes = pack $FSXATTR, (0) x 4;
  ioctl $folder, $GETXATTR, $attributes or die "attributes: $!\n";
  return $attributes;
}

sub quotactl {
  my ($folder, $operation, $id) = @_;
  return syscall $QUOTACTL_FD, fileno $folder, $operation, $id, $_[3];
}

sub opened {
  my $path = shift;
  open my $folder, '<', $path or die "$path: $!\n";
  return $folder;
}
