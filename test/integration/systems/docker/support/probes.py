# Things that must not be possible inside a sandbox, one line of JSON for each. A probe holds only
# if it was refused for the right reason: a bad argument or an absent feature proves nothing.
# Arguments are chosen so that the same script does no harm where nothing holds it in.
#   probes.py <abstract socket name of the host>

import ctypes, errno, json, os, platform, resource, socket, stat, subprocess, sys

libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() == 'aarch64'
REFUSED = {errno.EPERM, errno.EACCES}
BAD = ctypes.c_void_p(1)
HOSTS = {errno.ENETUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL, errno.EHOSTUNREACH}


def say(group, name, denied, detail):
    print(json.dumps({'group': group, 'name': name, 'denied': bool(denied), 'detail': str(detail)}), flush=True)


def attempt(group, name, act, reasons=REFUSED):
    try:
        result = act()
        say(group, name, False, f'worked: {result!r}')
    except OSError as error:
        say(group, name, error.errno in reasons, errno.errorcode.get(error.errno, error.errno))
    except Exception as error:
        say(group, name, False, repr(error))


def truth(group, name, held, detail=''):
    say(group, name, held, detail)


def masked(path):
    seen = os.listdir(path) if os.path.isdir(path) else os.read(os.open(path, os.O_RDONLY), 1)
    if not seen:
        raise OSError(errno.ENOENT, 'masked')
    return seen


NUMBERS = {  # x86_64, aarch64
    'unshare': (272, 97), 'setns': (308, 268), 'mount': (165, 40), 'umount2': (166, 39),
    'pivot_root': (155, 41), 'chroot': (161, 51), 'bpf': (321, 280), 'userfaultfd': (323, 282),
    'keyctl': (250, 219), 'add_key': (248, 217), 'request_key': (249, 218),
    'io_uring_setup': (425, 425), 'io_uring_enter': (426, 426), 'io_uring_register': (427, 427),
    'perf_event_open': (298, 241), 'process_vm_readv': (310, 270), 'process_vm_writev': (311, 271),
    'kcmp': (312, 272), 'pidfd_getfd': (438, 438), 'kexec_load': (246, 104), 'init_module': (175, 105),
    'finit_module': (313, 273), 'delete_module': (176, 106), 'reboot': (169, 142), 'swapon': (167, 224),
    'settimeofday': (164, 170), 'clock_settime': (227, 112), 'sethostname': (170, 161),
    'open_by_handle_at': (304, 265), 'quotactl': (179, 60), 'acct': (163, 89), 'syslog': (103, 116),
    'fsopen': (430, 430), 'open_tree': (428, 428), 'move_mount': (429, 429), 'mount_setattr': (442, 442),
    'fanotify_init': (300, 262), 'vhangup': (153, 58), 'memfd_secret': (447, 447),
    'clone': (56, 220), 'clone3': (435, 435), 'personality': (135, 92), 'mbind': (237, 235),
}


def syscall(name, *args):
    number = NUMBERS[name][1 if arm else 0]
    plain = [a if not isinstance(a, int) else ctypes.c_long(a) for a in args]
    result = libc.syscall(ctypes.c_long(number), *plain)
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def call(name, *args, reasons=REFUSED):
    attempt('kernel', name, lambda: syscall(name, *args), reasons)


def namespaced_child():
    pid = syscall('clone', 0x10000000 | 17, 0, 0, 0, 0)  # CLONE_NEWUSER
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def in_child(act):  # what works changes who one is, for all probes after it
    pid = os.fork()
    if pid == 0:
        try:
            act()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code != 0:
        raise OSError(code, os.strerror(code))


own_net = os.open('/proc/self/ns/net', os.O_RDONLY)
attempt('kernel', 'unshare', lambda: in_child(lambda: syscall('unshare', 0x10000000)))
attempt('kernel', 'clone into a user namespace', namespaced_child)
call('clone3', BAD, 0, reasons={errno.ENOSYS})
call('setns', own_net, 0)
call('mount', b'none', b'/mnt', b'tmpfs', 0, None)
call('umount2', b'/mnt', 2)
call('pivot_root', BAD, BAD)
call('chroot', b'/')
call('bpf', 0, BAD, 8)
call('userfaultfd', 0)
call('keyctl', 0, -3, 0)
call('add_key', BAD, BAD, BAD, 0, -3)
call('request_key', BAD, BAD, BAD, -3)
call('io_uring_setup', 1, BAD)
call('io_uring_enter', -1, 0, 0, 0, BAD, 0)
call('io_uring_register', -1, 0, BAD, 0)
call('perf_event_open', BAD, 0, -1, -1, 0)
call('process_vm_readv', os.getpid(), None, 0, None, 0, 0)
call('process_vm_writev', os.getpid(), None, 0, None, 0, 0)
call('kcmp', os.getpid(), os.getpid(), 0, 0, 0)
call('pidfd_getfd', -1, 0, 0)
call('kexec_load', 0, 0, None, -1)
call('init_module', BAD, 0, BAD)
call('finit_module', -1, BAD, 0)
call('delete_module', BAD, 0)
call('reboot', 1, 2, 3, None)
call('swapon', BAD, 0)
call('settimeofday', BAD, BAD)
call('clock_settime', 0, BAD)
call('sethostname', b'probe', 5)
call('open_by_handle_at', -1, BAD, 0)
call('quotactl', -1, BAD, 0, BAD)
call('acct', BAD)
call('syslog', 3, BAD, 1)
call('fsopen', b'tmpfs', 0)
call('open_tree', -100, b'/', 1)
call('move_mount', -1, BAD, -1, BAD, 0)
call('mount_setattr', -1, BAD, 0, BAD, 0)
call('fanotify_init', 0, 0)
call('memfd_secret', 0, reasons={errno.EPERM})
call('personality', 0x0040000)
call('mbind', None, 0, 0, None, 0, 0)


FAMILIES = {
    'ALG': 38, 'VSOCK': 40, 'PACKET': 17, 'XDP': 44, 'BLUETOOTH': 31, 'CAN': 29, 'TIPC': 30, 'KEY': 15,
    'RXRPC': 33, 'RDS': 21, 'KCM': 41, 'QIPCRTR': 42, 'SMC': 43, 'X25': 9, 'APPLETALK': 5, 'NFC': 39,
    'IEEE802154': 36, 'PHONET': 35, 'AX25': 3, 'NETROM': 6,
}
for family, number in FAMILIES.items():
    for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        attempt('kernel', f'socket AF_{family} {kind}', lambda: socket.socket(number, kind))
attempt('kernel', 'raw IPv4 socket', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt('kernel', 'raw IPv6 socket', lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58))

status = dict(line.split(':\t', 1) for line in open('/proc/self/status').read().splitlines() if ':\t' in line)
for kind in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'):
    truth('privilege', f'{kind} is empty', int(status[kind], 16) == 0, status[kind])
truth('privilege', 'no new privileges', status['NoNewPrivs'] == '1', status['NoNewPrivs'])
truth('privilege', 'seccomp filter is on', status['Seccomp'] == '2', status['Seccomp'])
truth('privilege', 'not root', 0 not in os.getresuid() + os.getresgid(), os.getresuid())
truth('privilege', 'no further groups', os.getgroups() in ([], [os.getgid()]), os.getgroups())
attempt('privilege', 'setuid 0', lambda: os.setuid(0))
attempt('privilege', 'setgid 0', lambda: os.setgid(0))
attempt('privilege', 'setgroups', lambda: os.setgroups([0]))
attempt('privilege', 'chown to root', lambda: os.chown('/tmp', 0, 0))
attempt('privilege', 'block device', lambda: os.mknod('/tmp/disk', stat.S_IFBLK | 0o600, os.makedev(8, 0)))
attempt('privilege', 'character device', lambda: os.mknod('/tmp/mem', stat.S_IFCHR | 0o600, os.makedev(1, 1)))
attempt('privilege', 'be more important', lambda: os.nice(-5))
attempt('privilege', 'real-time scheduling', lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
attempt('privilege', 'never be killed for memory', lambda: os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'-1000'))
found = subprocess.run(['find', '/', '-xdev', '-perm', '/6000', '-type', 'f'], capture_output=True, text=True).stdout
truth('privilege', 'no program changes its user', found == '', found)


def raise_limit(which):
    try:
        resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except ValueError as error:
        raise OSError(errno.EPERM, str(error))


attempt('privilege', 'unlimited files', lambda: raise_limit(resource.RLIMIT_NOFILE))
attempt('privilege', 'unlimited file size', lambda: raise_limit(resource.RLIMIT_FSIZE))
attempt('privilege', 'core dumps', lambda: raise_limit(resource.RLIMIT_CORE))


def write(path, text='x'):
    with open(path, 'a') as file:
        file.write(text)


READONLY = REFUSED | {errno.EROFS}
for path in ('/etc/passwd', '/etc/hosts', '/etc/resolv.conf', '/usr/bin/probe', '/opt/frs/agent', '/opt/frs/entry.js',
             '/probe', '/var/tmp/probe', '/root/probe', '/lib/probe', '/run/probe', '/run/egress/probe', '/spool/probe',
             '/proc/sys/kernel/core_pattern', '/proc/sys/vm/drop_caches', '/proc/irq/default_smp_affinity',
             '/sys/kernel/mm/ksm/run', '/sys/power/state'):
    attempt('files', f'write {path}', lambda: write(path, ''), READONLY | {errno.ENOENT})
attempt('files', 'open the kernel trigger', lambda: os.open('/proc/sysrq-trigger', os.O_WRONLY), READONLY | {errno.ENOENT})
attempt('files', 'make a control group', lambda: os.mkdir('/sys/fs/cgroup/memory/probe'), READONLY | {errno.ENOENT})
attempt('files', 'remove the socket', lambda: os.unlink('/run/egress/x'), READONLY)
attempt('files', 'replace the spool', lambda: os.rename('/spool/out', '/spool/gone'), READONLY)
attempt('files', 'remove the spool', lambda: os.unlink('/spool/out'), READONLY)
attempt('files', 'link out of the spool', lambda: os.symlink('/etc/passwd', '/spool/link'), READONLY)
attempt('files', 'remount the root', lambda: syscall('mount', b'', b'/', b'', 0x20, None))
for path in ('/dev/mem', '/dev/kmem', '/dev/kmsg', '/dev/kvm', '/dev/fuse', '/dev/net/tun', '/dev/loop-control', '/dev/sda',
             '/dev/vda', '/dev/nvme0n1', '/dev/vsock', '/dev/vhost-vsock', '/var/run/docker.sock', '/run/docker.sock',
             '/run/containerd/containerd.sock'):
    attempt('files', f'open {path}', lambda: os.open(path, os.O_RDONLY), REFUSED | {errno.ENOENT})
for path in ('/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/interrupts', '/proc/sched_debug', '/proc/latency_stats'):
    attempt('files', f'read {path}', lambda: masked(path), REFUSED | {errno.ENOENT})
for path in ('/sys/firmware', '/sys/devices/virtual/powercap', '/proc/acpi', '/proc/scsi'):
    attempt('files', f'list {path}', lambda: masked(path), REFUSED | {errno.ENOENT})


def run_from(folder):
    program = f'{folder}/program'
    with open(program, 'wb') as file:
        file.write(open('/bin/true', 'rb').read())
    os.chmod(program, 0o755)
    return subprocess.run([program]).returncode


attempt('files', 'run a program from shared memory', lambda: run_from('/dev/shm'))
truth('files', 'only own processes', len([p for p in os.listdir('/proc') if p.isdigit()]) < 20)
visible = open('/proc/1/cmdline').read() + open('/proc/1/environ').read()
truth('files', 'process 1 is the init of the sandbox', 'init' in visible, visible)


def connect(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as sock:
        sock.settimeout(3)
        sock.connect(address)
        if kind == socket.SOCK_DGRAM:
            sock.send(b'x')
        return 'connected'


truth('network', 'loopback is the only interface', [n for _, n in socket.if_nameindex()] == ['lo'], socket.if_nameindex())
truth('network', 'no routes', len(open('/proc/net/route').read().splitlines()) == 1)
for address in ('192.0.2.1', '198.51.100.7', '169.254.169.254', '172.17.0.1', '10.0.0.1', '192.168.0.1', '224.0.0.1'):
    attempt('network', f'connect to {address}', lambda: connect(socket.AF_INET, (address, 443)), HOSTS)
    attempt('network', f'datagram to {address}', lambda: connect(socket.AF_INET, (address, 53), socket.SOCK_DGRAM), HOSTS)
for address in ('2001:db8::1', 'fe80::1', 'ff02::1', 'fd00::1'):
    attempt('network', f'connect to {address}', lambda: connect(socket.AF_INET6, (address, 443)), HOSTS | {errno.EINVAL})


def resolve(name):
    try:
        return socket.getaddrinfo(name, 443)
    except socket.gaierror as error:
        raise OSError(errno.ENETUNREACH, str(error))


for name in ('example.com', 'host.docker.internal', 'metadata.google.internal'):
    attempt('network', f'resolve {name}', lambda: resolve(name), HOSTS)
for port in (22, 2375, 5432, 6379, 7233, 8080, 8233):
    attempt('network', f'port {port} of the host', lambda: connect(socket.AF_INET, ('127.0.0.1', port)), {errno.ECONNREFUSED})
attempt('network', 'abstract socket of the host', lambda: connect(socket.AF_UNIX, '\0' + sys.argv[1]), {errno.ECONNREFUSED})
