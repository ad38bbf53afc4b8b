/** An organisation's number (OIN). */
export const OIN = /^\d{20}$/;
