const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text made safe for HTML content and attribute values. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

function paragraph(text: string): string {
  return `<p>${escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>`;
}

/** The one style sheet of the readable pages; named by hash in the content security policy, so it needs no own address. */
export const PAGE_STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:3rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}' +
  'h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.15rem;margin-top:2rem}a{color:#154273}' +
  'code{background:#f0f2f5;padding:.1em .3em;border-radius:3px}table{border-collapse:collapse;width:100%}' +
  'th,td{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #d5d9de;vertical-align:top}';

/** A small readable page in Dutch. `paragraphs` are plain text with backquotes for code; `html` is trusted markup. */
export function htmlPage(page: { title: string; paragraphs: readonly string[]; html?: string }): string {
  const title = escapeHtml(page.title);
  return (
    `<!doctype html>\n<html lang="nl"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${title}</title><style>${PAGE_STYLE}</style></head>` +
    `<body><main><h1>${title}</h1>${page.paragraphs.map(paragraph).join('')}${page.html ?? ''}</main></body></html>\n`
  );
}
