/** What the operator of the network and the statistics office need to know of a supplier, on one page. */
import { hash, type X509Certificate } from 'node:crypto';
import type { Variant } from '../../../gegevens/model/mapping.ts';
import type { PreflightContext } from './line.ts';
import { oneLine } from './own-certificate.ts';

interface SheetNeeds {
  /** The certificate of the connection. */
  readonly transport: X509Certificate | undefined;
  readonly contacts: readonly string[];
}

export type DataSheet = ReturnType<typeof dataSheet>;

/** The agreed names: what the service is for, and who delivers. */
const NAMES = { shv: 'DDAS-schuldhulpverlening-ophaal-', vs: 'DDAS-vroegsignalering-ophaal-' } as const;

export function dataSheet({ config, own }: Pick<PreflightContext, 'config' | 'own'>, needs: SheetNeeds) {
  const { gegevens, server, tokens } = config;
  const service = (variant: Variant) => {
    const isShv = variant === 'shv';
    const set = gegevens.services.get(variant) ?? variant;
    const isConfigured = set.startsWith(NAMES[variant]) && set.length > NAMES[variant].length;
    return {
      variant,
      /** To register in the directory; also `svc` in tokens. */
      name: isConfigured ? set : NAMES[variant] + gegevens.supplierCode.replaceAll(/[^A-Za-z0-9._-]+/g, '-'),
      /** False: the name is proposed, and not yet that of the setting. */
      isConfigured,
      path: `${isShv ? gegevens.shvPrefix : gegevens.vsPrefix}/gegevens`,
      model: isShv ? gegevens.shvModel : gegevens.vsModel,
      /** Most records in one answer. */
      maximum: isShv ? gegevens.shvMaxRecords : gegevens.vsMaxRecords,
    };
  };
  // Every address of the machine: which of them the Inway uses is not known here.
  const host = /^(0\.0\.0\.0|::)$/.test(server.host) ? 'HOST-OF-THIS-SERVICE' : server.host;
  const leaf = own?.chain[0]?.x509;
  return {
    organisation: /^O=(.*)$/m.exec(own?.subject ?? '')?.[1],
    oin: own?.oin,
    supplierCode: gegevens.supplierCode,
    contacts: needs.contacts,
    services: (['shv', 'vs'] as const).filter((variant) => server.areas.includes(variant)).map(service),
    /** To register in the Inway: the host only, the path stays. */
    upstream: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    protocol: 'PROTOCOL_TCP_HTTP_1.1',
    publicBaseUrl: server.publicBaseUrl,
    group: tokens.fscGroupId,
    peer: tokens.fscPeerId,
    inways: tokens.fscAudience,
    certificates: [
      ...(leaf === undefined ? [] : [certificateEntry('signature', leaf)]),
      ...(needs.transport === undefined ? [] : [certificateEntry('connection', needs.transport)]),
    ],
  };
}

function certificateEntry(
  use: 'signature' | 'connection',
  { raw, subject, issuer, serialNumber, validToDate }: X509Certificate,
) {
  return {
    use,
    subject: oneLine(subject),
    issuer: oneLine(issuer),
    serialNumber: serialNumber.toLowerCase(),
    validUntil: validToDate.toISOString().slice(0, 10),
    /** Hexadecimal, and as in `x5t#S256`. */
    sha256: hash('sha256', raw, 'hex'),
    x5tS256: hash('sha256', raw, 'base64url'),
  };
}

const COLUMN = 20;
const TO_FILL_IN = '(to be filled in)';

/** The sheet as lines of text. */
export function sheetLines(sheet: DataSheet): string[] {
  const row = (name: string, value: string = TO_FILL_IN): string => `  ${name.padEnd(COLUMN)}${value}`.trimEnd();
  /** A row for each value, of which the first has the name. */
  const rows = (name: string, values: readonly string[], none = TO_FILL_IN): string[] =>
    (values.length === 0 ? [none] : values).map((value, index) => row(index === 0 ? name : '', value));
  return [
    'Data sheet: for the operator of the network and the statistics office',
    '',
    row('organisation', sheet.organisation),
    row('OIN', sheet.oin),
    row('supplier code', sheet.supplierCode),
    ...rows('contact', sheet.contacts, `${TO_FILL_IN} name, e-mail, telephone: --contact`),
    row('group', sheet.group),
    row('peer id', sheet.peer),
    ...rows('Inway', sheet.inways),
    '',
    ...sheet.services.flatMap(({ name, isConfigured, path, model, maximum, variant }) => [
      row('service', name),
      ...(isConfigured ? [] : [row('', 'agree on the name, and set it in GEGEVENS_SERVICES too')]),
      row('call', `POST ${path} (${variant.toUpperCase()} ${model}, at most ${maximum} records an answer)`),
    ]),
    row('protocol', sheet.protocol),
    row('upstream', `${sheet.upstream} (in the Inway; the host only: the path stays)`),
    row('seen by clients at', sheet.publicBaseUrl),
    ...sheet.certificates.flatMap(({ use, subject, issuer, serialNumber, validUntil, sha256, x5tS256 }) => [
      '',
      `  certificate of the ${use}`,
      ...rows('  subject', subject.split(/(?<=,) /)),
      ...rows('  issuer', issuer.split(/(?<=,) /)),
      row('  serial number', `${serialNumber}, until ${validUntil}`),
      row('  SHA-256', sha256),
      row('  x5t#S256', x5tS256),
    ]),
  ];
}
