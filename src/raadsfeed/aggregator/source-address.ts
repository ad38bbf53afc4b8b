/** What an operator gives as a source. */
export type SourceAddress =
  | { readonly kind: 'feed'; readonly adres: string }
  | {
      readonly kind: 'leveranciers-api';
      readonly adres: string;
      readonly scheme: string;
      readonly organisationId: string;
    };

/** Reads the address of a service document, or `notubiz:<id>`; `undefined` when it is neither. */
export function parseSourceAddress(text: string): SourceAddress | undefined {
  const supplier = /^(notubiz):([A-Za-z0-9_-]{1,40})$/.exec(text);
  const [, scheme, organisationId] = supplier ?? [];
  if (scheme !== undefined && organisationId !== undefined) {
    return { kind: 'leveranciers-api', adres: text, scheme, organisationId };
  }
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '' || url.password !== '')
    return undefined;
  url.hash = '';
  return { kind: 'feed', adres: url.href.replace(/\/+$/, '') };
}
