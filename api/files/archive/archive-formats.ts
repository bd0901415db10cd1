export interface ArchiveFormat {
  /** The end of the path. */
  ending: string;
  mediaType: string;
  isCompressed: boolean;
  /** The name in the IDs of operations. */
  name: string;
  /** The name in descriptions. */
  description: string;
}

export const archiveFormats: ArchiveFormat[] = [
  {
    ending: 'tar',
    mediaType: 'application/x-tar',
    isCompressed: false,
    name: 'Archive',
    description: 'tar archive',
  },
  {
    ending: 'tar.gz',
    mediaType: 'application/gzip',
    isCompressed: true,
    name: 'CompressedArchive',
    description: 'compressed tar archive',
  },
];
