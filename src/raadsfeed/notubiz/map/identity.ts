/** How the resources of NotuBiz are called in the feed. */
export const meetingId = (id: string): string => `meeting-${id}`;
export const agendapuntId = (id: string): string => `agendapunt-${id}`;
/** A register item that has no file. */
export const registerItemId = (id: string): string => `registerstuk-${id}`;
export const documentId = (id: string): string => `document-${id}`;
