/** The operator's page: is the service well, and if not, why? In English, like the logs and the documents for operators. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { OperatorCell, OperatorSection } from '../../lib/operations.ts';
import { type Html, type HtmlValue, html, trusted } from '../../lib/template.ts';
import type { Clock } from '../../lib/time.ts';
import { type Condition, type Conditions, createSectionReader, type SeenSection } from './conditions.ts';
import { SAMPLE_MS, type Samples, type Series } from './samples.ts';

const REFRESH_SECONDS = 10;
/** Sections that take longer (milliseconds) show their last values: the page must answer while the database does not. */
const PATIENCE_MS = 1000;
/** Milliseconds between the readings of sections while nobody views the page. */
const SECTIONS_MS = 60_000;

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:70rem;color:#1b1b1b;background:#fff}
h1{font-size:1.6rem;margin:0 0 .5rem}h2{font-size:1.2rem;margin:2rem 0 .5rem}
table{border-collapse:collapse;width:100%}time{white-space:nowrap}td:has(time){white-space:nowrap}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #d5d9de;vertical-align:top;overflow-wrap:anywhere;min-width:4.5rem}thead th{overflow-wrap:normal}
thead th{color:#555;font-weight:400}tbody th{min-width:9rem}
.verdict{padding:.6rem 1rem;border-left:.5rem solid #2d6a1f;background:#eef6ea}.verdict.warning{border-color:#8a5a00;background:#fff6e0}
.verdict.failed{border-color:#a80000;background:#fdeaea}.state{font-weight:600;white-space:nowrap}
.state.warning{color:#8a5a00}.state.failed{color:#a80000}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(16rem,1fr));gap:1rem;padding:0;margin:0;list-style:none}
.charts li{break-inside:avoid}.charts svg{display:block;width:100%;height:5rem;background:#f5f6f8}
.charts polyline{fill:none;stroke:#154273;stroke-width:1.5;vector-effect:non-scaling-stroke}
@media (max-width:45rem){table,tbody,tr,tbody th,td{display:block;min-width:0}thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
tr{padding:.5rem 0;border-bottom:1px solid #d5d9de}tbody th,td{border:0;padding:0}td:empty{display:none}td:has(time){white-space:normal}td[data-label]::before{content:attr(data-label) ": ";color:#555}}
.text{white-space:pre-wrap;overflow-wrap:anywhere}h2,h3{scroll-margin-top:1rem}:target{background:#fff6e0}
a{color:#154273}@media print{body{max-width:none;font-size:11pt}tr{break-inside:avoid}}`;
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const OPERATOR_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

interface OperatorPageOptions {
  readonly conditions: Conditions;
  readonly samples: Samples;
  readonly sections: readonly OperatorSection[];
  readonly clock: Clock;
  readonly isStopping: () => boolean;
}

export function operatorPage(app: FastifyInstance, options: OperatorPageOptions): void {
  const { conditions, samples, sections, clock } = options;
  const readSection = createSectionReader(clock);
  const readSections = (): Promise<SeenSection[]> =>
    Promise.all(sections.map((section) => readSection(section, PATIENCE_MS)));
  const reading = setInterval(() => void readSections(), SECTIONS_MS).unref();
  app.addHook('onClose', async () => clearInterval(reading));
  app.get('/', async (_request, reply) => {
    const patience = sleep(PATIENCE_MS);
    const [parts] = await Promise.all([
      readSections(),
      Promise.race([conditions.run(), patience]),
      Promise.race([samples.begin(), patience]),
    ]);
    return reply
      .headers({ ...OPERATOR_HEADERS, refresh: String(REFRESH_SECONDS) })
      .type('text/html; charset=utf-8')
      .send(render(options, parts));
  });
  app.get(RUNBOOK, async (_request, reply) =>
    reply
      .headers(OPERATOR_HEADERS)
      .type('text/html; charset=utf-8')
      .send(runbook(await readFile(RUNBOOK_FILE, 'utf8'))),
  );
}

function document(title: string, body: Html): string {
  return html`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Koppelvlak</title><style>${trusted(STYLE)}</style></head>
<body><main>${body}
</main></body></html>
`.markup;
}

function render(
  { conditions, samples, isStopping, clock }: OperatorPageOptions,
  parts: readonly SeenSection[],
): string {
  const seen = conditions.seen();
  const now = clock.now();
  const [failed = [], warned = [], well = []] = (['failed', 'warning', 'well'] as const).map((wanted) =>
    seen?.found.filter(({ state }) => state === wanted),
  );
  const found = [...failed, ...warned, ...well];
  const verdict = (): readonly [state: Condition['state'], text: string] => {
    if (isStopping()) return ['failed', 'Stopping: no new work.'];
    if (failed.length > 0) return ['failed', `Not ready: ${failed.length} of ${found.length} conditions failed.`];
    if (warned.length > 0)
      return ['warning', `Ready, with ${warned.length} ${warned.length === 1 ? 'warning' : 'warnings'}.`];
    return seen === undefined ? ['warning', 'The conditions have not been checked yet.'] : ['well', 'All is well.'];
  };
  const [state, text] = verdict();
  return document(
    text,
    html`<h1>Koppelvlak</h1>
<p class="verdict ${state}"><strong>${text}</strong> As seen at ${moment(seen?.at ?? now)}; this page refreshes every ${REFRESH_SECONDS} seconds.</p>
<h2>Conditions</h2>
${table(['condition', 'state', 'what', 'since'], found.map(conditionRow))}
${expiries(samples, now)}
${parts.map(renderPart)}
<h2>The last hour</h2>
<ul class="charts">${samples.series().map(chart)}</ul>`,
  );
}

function conditionRow({ name, state, detail, warning, since, runbook }: Condition): Cell[] {
  return [
    html`<a href="${RUNBOOK}#${runbook}">${name}</a>`,
    html`<span class="state ${state}">${state}</span>`,
    warning ?? detail ?? '',
    since,
  ];
}

/** Gauges with the time at which something expires, in seconds since 1970. */
const EXPIRIES = {
  koppelvlak_gegevens_certificate_expiry_timestamp_seconds: 'signing key and certificate',
  koppelvlak_fsc_token_certificate_expiry_timestamp_seconds: 'certificate of the FSC Manager (tokens)',
} as const;
const DAY_MS = 86_400_000;

function expiries(samples: Samples, now: Date): HtmlValue {
  const rows = Object.entries(EXPIRIES).flatMap(([metric, name]) => {
    const seconds = samples.latest(metric);
    if (seconds === undefined || seconds === 0) return [];
    const days = Math.floor((seconds * 1000 - now.getTime()) / DAY_MS);
    return [[name, days < 0 ? 'expired' : days, html`${moment(new Date(seconds * 1000))}`]];
  });
  return rows.length > 0 && html`<h2>Certificates and keys</h2>${table(['certificate', 'days left', 'until'], rows)}`;
}

function renderPart({ title, content, at, fault }: SeenSection): Html {
  return html`<h2>${title}</h2>
${fault !== undefined && html`<p>Not known now: ${fault}.${at !== undefined && html` As seen at ${moment(at)}:`}</p>`}
${content !== undefined && (content.rows.length === 0 ? html`<p>None.</p>` : table(content.columns, content.rows))}`;
}

type Cell = OperatorCell | Html;

/** On a narrow screen each row is a block, in which the cells carry the names of their columns. */
function table(columns: readonly string[], rows: readonly (readonly Cell[])[]): Html {
  return html`<table><thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first = '', ...rest]) =>
      html`<tr><th scope="row">${rendered(first)}</th>${rest.map((cell, i) => html`<td data-label="${columns[i + 1]}">${rendered(cell)}</td>`)}</tr>\n`,
  )}</tbody></table>`;
}

function rendered(cell: Cell): HtmlValue {
  return cell instanceof Date ? moment(cell) : cell;
}

/** To the second and in UTC, like the log lines. */
function moment(date: Date): Html {
  const text = date.toISOString();
  return html`<time datetime="${text}">${text.slice(0, 10)} ${text.slice(11, 19)}Z</time>`;
}

const WIDTH = 360;
const HEIGHT = 60;

function chart({ title, unit, values }: Series): Html {
  const most = Math.max(...values, 1e-9);
  const from = WIDTH - values.length;
  const points = values.map((value, i) => `${from + i},${(HEIGHT - (value / most) * (HEIGHT - 4) - 2).toFixed(1)}`);
  const minutes = Math.round((values.length * SAMPLE_MS) / 60_000);
  return html`<li><strong>${title}</strong>: ${rounded(values.at(-1) ?? 0)} ${unit} (most in ${minutes} minutes: ${rounded(most)})
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true"><polyline points="${points.join(' ')}"/></svg></li>`;
}

function rounded(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Math.round(value * 100) / 100);
}

/** The runbook is served beside the page that links to it: at night the network that has the documents may be down. */
const RUNBOOK = '/runbook';
const RUNBOOK_FILE = new URL('../../../docs/runbook.md', import.meta.url);

function runbook(markdown: string): string {
  const [before = '', ...sections] = markdown.split(/^(?=#{2,3} )/m);
  return document(
    'Runbook',
    html`<h1>Runbook</h1>
<p><a href="/">To the operator’s page</a></p>
<div class="text">${linked(before.replace(/^# .*\n/, '').trim())}</div>
${sections.map(section)}`,
  );
}

function section(text: string): Html {
  const [, level = '', title = '', body = ''] = /^(#+) (.*)\n([\s\S]*)$/.exec(text) ?? [];
  const tag = trusted(`h${level.length}`);
  return html`<${tag} id="${slug(title)}">${title}</${tag}>
<div class="text">${linked(body.trim())}</div>
`;
}

/** The address of a heading, as GitHub makes it. */
function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function linked(text: string): readonly (Html | string)[] {
  return text.split(/(\[[^[\]]+\]\([^()]+\))/).map((piece) => {
    const [, name = '', target = ''] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(piece) ?? [];
    if (name === '') return piece;
    return target.startsWith('#') ? html`<a href="${target}">${name}</a>` : `${name} (${target})`;
  });
}
