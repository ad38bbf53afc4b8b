/** The first 128 bits of a hash (hexadecimal) in the form of a UUID: the database keeps and compares those as 16 bytes. */
export function hashUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
