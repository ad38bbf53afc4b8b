/**
 * Mends an address the way NotuBiz breaks them: `httphttp://`, spaces, no scheme. `undefined` when nothing usable is left.
 */
export function mendUrl(value: string): string | undefined {
  const bare = value
    .trim()
    .replaceAll(/\s/g, '%20')
    .replace(/^(?:https?:?\/{0,2})*(https?):\/{1,2}(?=[^/])/i, '$1://');
  const schemed = /^[a-z][a-z0-9+.-]*:\/\//i.test(bare) ? bare : `https://${bare.replace(/^\/+/, '')}`;
  if (!URL.canParse(schemed)) return undefined;
  const url = new URL(schemed);
  const { hostname } = url;
  if (!['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  return hostname.includes('.') || hostname === 'localhost' || hostname.startsWith('[') ? url.href : undefined;
}
