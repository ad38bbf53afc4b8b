/** What the operator of the network and the statistics office need to know of a supplier, on one page. */
import { hash, type X509Certificate } from 'node:crypto';
import type { Variant } from '../../../gegevens/model/mapping.ts';
import type { PreflightContext } from './line.ts';
import { oneLine } from './own-certificate.ts';

interface SheetNeeds {
  readonly transport: readonly X509Certificate[];
  readonly contacts: readonly string[];
}

export type DataSheet = ReturnType<typeof dataSheet>;

/** The agreed names: what the service is for, and who delivers. */
const NAMES = { shv: 'DDAS-schuldhulpverlening-ophaal-', vs: 'DDAS-vroegsignalering-ophaal-' } as const;

export function dataSheet({ config, own }: PreflightContext, { transport, contacts }: SheetNeeds) {
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
      setting: 'GEGEVENS_SERVICES',
      method: 'POST',
      path: `${isShv ? gegevens.shvPrefix : gegevens.vsPrefix}/gegevens`,
      model: isShv ? gegevens.shvModel : gegevens.vsModel,
      /** Most records in one answer. */
      maximum: isShv ? gegevens.shvMaxRecords : gegevens.vsMaxRecords,
    };
  };
  // Every address of the machine: which of them the Inway uses is not known here.
  const host = /^(0\.0\.0\.0|::)$/.test(server.host) ? 'HOST-OF-THIS-SERVICE' : server.host;
  return {
    organisation: /^O=(.*)$/m.exec(own?.leaf.x509.subject ?? '')?.[1],
    oin: own?.oin,
    supplierCode: gegevens.supplierCode,
    contacts,
    services: (['shv', 'vs'] as const).filter((variant) => server.areas.includes(variant)).map(service),
    /** To register in the Inway: the host only, the path stays. */
    upstream: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    protocol: 'PROTOCOL_TCP_HTTP_1.1',
    publicBaseUrl: server.publicBaseUrl,
    group: tokens.fscGroupId,
    peer: tokens.fscPeerId,
    inways: tokens.fscAudience,
    certificates: [
      ...(own === undefined ? [] : [certificateEntry('signature', own.leaf.x509)]),
      ...transport.map((certificate) => certificateEntry('connection', certificate)),
    ],
  };
}

function certificateEntry(use: 'signature' | 'connection', certificate: X509Certificate) {
  const { raw, subject, issuer, serialNumber, validToDate } = certificate;
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
/** So that it fits on a sheet of paper. */
const WIDTH = 78;
const TO_FILL_IN = '(to be filled in)';

/** The sheet as lines of text. */
export function sheetLines(sheet: DataSheet): string[] {
  const row = (name: string, value: string | undefined): string =>
    wrapped(value ?? TO_FILL_IN)
      .map((part, index) => `  ${(index === 0 ? name : '').padEnd(COLUMN)}${part}`)
      .join('\n');
  const contacts = sheet.contacts.length === 0 ? [`${TO_FILL_IN} name, e-mail, telephone: --contact`] : sheet.contacts;
  return [
    'Data sheet: for the operator of the network and the statistics office',
    '',
    row('organisation', sheet.organisation),
    row('OIN', sheet.oin),
    row('supplier code', sheet.supplierCode),
    ...contacts.map((contact, index) => row(index === 0 ? 'contact' : '', contact)),
    row('group', sheet.group),
    row('peer id', sheet.peer),
    row('Inway', sheet.inways.length === 0 ? undefined : sheet.inways.join(', ')),
    '',
    ...sheet.services.flatMap(({ name, isConfigured, setting, method, path, model, maximum, variant }) => [
      row('service', name),
      ...(isConfigured ? [] : [row('', `agree on the name, and set it in ${setting} too`)]),
      row('call', `${method} ${path} (${variant.toUpperCase()} ${model}, at most ${maximum} records an answer)`),
    ]),
    row('protocol', sheet.protocol),
    row('upstream', `${sheet.upstream} (in the Inway; the host only: the path stays)`),
    row('seen by clients at', sheet.publicBaseUrl),
    ...sheet.certificates.flatMap(({ use, subject, issuer, serialNumber, validUntil, sha256, x5tS256 }) => [
      '',
      row(`certificate of the ${use}`, ''),
      row('  subject', subject),
      row('  issuer', issuer),
      row('  serial number', `${serialNumber}, until ${validUntil}`),
      row('  SHA-256', sha256),
      row('  x5t#S256', x5tS256),
    ]),
  ].flatMap((lines) => lines.split('\n').map((line) => line.trimEnd()));
}

/** Breaks a long list after a comma. */
function wrapped(value: string): string[] {
  const lines = [''];
  for (const part of value.split(/(?<=, )/)) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + part.length > WIDTH) lines.push(part);
    else lines[lines.length - 1] = last + part;
  }
  return lines;
}
