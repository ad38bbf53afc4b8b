/** A report as one page, to be opened, sent or printed: no script, and nothing loaded from elsewhere. */
import { type Html, html, trusted } from './template.ts';

/** Black on white, so that it prints; nothing is said by colour alone. */
const STYLE = `
  @page { size: A4; margin: 14mm 12mm; }
  body { font: 10pt/1.4 system-ui, Arial, sans-serif; color: #111; background: #fff; margin: 0 auto; padding: 1.5rem; max-width: 60rem; }
  h1 { font-size: 1.5rem; margin: 0; } h2, h3 { break-after: avoid; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; } dd { margin: 0; overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; } thead { display: table-header-group; } tr { break-inside: avoid; }
  thead th { border-bottom: 2px solid #111; }
`;

interface ReportPage {
  readonly language: string;
  readonly title: string;
  readonly style: string;
  readonly about: readonly (readonly [name: string, text: string])[];
  readonly content: Html;
  readonly footer: string;
}

export function reportPage({ language, title, style, about, content, footer }: ReportPage): string {
  return html`<!DOCTYPE html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${trusted(STYLE + style)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<dl>
${about.map(([name, text]) => html`<dt>${name}</dt><dd>${text}</dd>\n`)}</dl>
${content}
</main>
<footer><p>${footer}</p></footer>
</body>
</html>
`.markup;
}
