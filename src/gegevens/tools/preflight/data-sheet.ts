/** The data sheet of a supplier for the operator of the network and the statistics office, on one page. */
import { hash, type X509Certificate } from 'node:crypto';
import type { Variant } from '../../../lib/exchange-model/mapping.ts';
import { variantSettings } from '../../variant-settings.ts';
import type { PreflightContext } from './line.ts';
import { oneLine } from './own-certificate.ts';

interface SheetNeeds {
  readonly transport: X509Certificate | undefined;
  readonly contacts: readonly string[];
}

/** Rows of a name and a value; the name is empty where the value continues the row before. */
export type DataSheet = readonly (readonly [name: string, value: string])[];

/** The agreed names: the purpose of the service, and the supplier. */
const NAMES = { shv: 'DDAS-schuldhulpverlening-ophaal-', vs: 'DDAS-vroegsignalering-ophaal-' } as const;
const TO_FILL_IN = '(to be filled in)';

export function dataSheet(
  { config, own }: Pick<PreflightContext, 'config' | 'own'>,
  { transport, contacts }: SheetNeeds,
): DataSheet {
  const { gegevens, server, tokens } = config;
  const service = (variant: Variant): DataSheet => {
    const { prefix, service: set, model, maximum } = variantSettings(gegevens, variant);
    const isConfigured = set.startsWith(NAMES[variant]) && set.length > NAMES[variant].length;
    const proposed = NAMES[variant] + gegevens.supplierCode.replaceAll(/[^A-Za-z0-9._-]+/g, '-');
    return [
      ['service', isConfigured ? set : proposed],
      ...rows('', isConfigured ? [] : ['agree on the name, and set it in GEGEVENS_SERVICES too']),
      ['call', `POST ${prefix}/gegevens (${variant.toUpperCase()} ${model}, at most ${maximum} records an answer)`],
    ];
  };
  // Every address of the machine, because it is not known here which one the Inway uses.
  const host = /^(0\.0\.0\.0|::)$/.test(server.host) ? 'HOST-OF-THIS-SERVICE' : server.host;
  const upstream = `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`;
  const leaf = own?.chain[0]?.x509;
  return [
    ['organisation', /^O=(.*)$/m.exec(own?.subject ?? '')?.[1] ?? TO_FILL_IN],
    ['OIN', own?.oin ?? TO_FILL_IN],
    ['supplier code', gegevens.supplierCode],
    ...rows('contact', contacts.length > 0 ? contacts : [`${TO_FILL_IN} name, e-mail, telephone: --contact`]),
    ['group', tokens.fscGroupId ?? TO_FILL_IN],
    ['peer id', tokens.fscPeerId ?? TO_FILL_IN],
    ...rows('Inway', tokens.fscAudience.length > 0 ? tokens.fscAudience : [TO_FILL_IN]),
    ...(['shv', 'vs'] as const).filter((variant) => server.areas.includes(variant)).flatMap(service),
    ['protocol', 'PROTOCOL_TCP_HTTP_1.1'],
    ['upstream', `${upstream} (in the Inway; the host only: the path stays)`],
    ['seen by clients at', server.publicBaseUrl ?? TO_FILL_IN],
    ...(leaf === undefined ? [] : certificateRows('signature', leaf)),
    ...(transport === undefined ? [] : certificateRows('connection', transport)),
  ];
}

function certificateRows(use: string, { raw, subject, issuer, serialNumber, validToDate }: X509Certificate): DataSheet {
  return [
    [`certificate of the ${use}`, ''],
    ...rows('  subject', oneLine(subject).split(/(?<=,) /)),
    ...rows('  issuer', oneLine(issuer).split(/(?<=,) /)),
    ['  serial number', `${serialNumber.toLowerCase()}, until ${validToDate.toISOString().slice(0, 10)}`],
    ['  SHA-256', hash('sha256', raw, 'hex')],
    ['  x5t#S256', hash('sha256', raw, 'base64url')],
  ];
}

/** A row for each value; the first row has the name. */
function rows(name: string, values: readonly string[]): DataSheet {
  return values.map((value, index) => [index === 0 ? name : '', value]);
}

const COLUMN = 20;

export function sheetLines(sheet: DataSheet): string[] {
  const lines = sheet.map(([name, value]) => `  ${name.padEnd(COLUMN)}${value}`.trimEnd());
  return ['Data sheet: for the operator of the network and the statistics office', '', ...lines];
}
