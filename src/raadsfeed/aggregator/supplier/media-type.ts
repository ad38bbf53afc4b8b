/** By the extension of files that councils publish. */
const TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  odt: 'application/vnd.oasis.opendocument.text',
  rtf: 'application/rtf',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  csv: 'text/csv',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odp: 'application/vnd.oasis.opendocument.presentation',
  txt: 'text/plain',
  htm: 'text/html',
  html: 'text/html',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  msg: 'application/vnd.ms-outlook',
  zip: 'application/zip',
};

export function mediaTypeOf(fileName: string | undefined): string | undefined {
  const end = /\.([A-Za-z0-9]{2,5})$/.exec(fileName?.trim() ?? '')?.[1]?.toLowerCase();
  return end !== undefined && Object.hasOwn(TYPES, end) ? TYPES[end] : undefined;
}

export function mediaTypeIn(names: readonly (string | undefined)[], address: string | undefined): string | undefined {
  const path = address === undefined || !URL.canParse(address) ? undefined : new URL(address).pathname;
  return [...names, path, address].map(mediaTypeOf).find((type) => type !== undefined);
}
