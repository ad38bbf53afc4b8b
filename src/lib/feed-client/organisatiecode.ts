const ORGANISATIECODE = /^(gm[0-9]{4}|pv[0-9]{2}|ws[0-9]{4})$/;

/** The code in lower case, or `undefined` when it is not a valid code. */
export function normaliseOrganisatiecode(text: string): string | undefined {
  const code = text.toLowerCase();
  return ORGANISATIECODE.test(code) ? code : undefined;
}
