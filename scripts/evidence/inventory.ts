/** The bill of materials, and the licences with their texts. */
import { isRecord } from '../../src/lib/json/json-value.ts';
import { isAssessed, licenceTexts } from '../licences.ts';
import { shippedPackages } from '../locked-packages.ts';
import { createSbom } from '../sbom.ts';
import { faultsOfSbom } from './cyclonedx.ts';
import { readJson, sha256 } from './files.ts';
import { lacking, type Report, records } from './report.ts';

export const sbom: Report = {
  file: 'sbom.cdx.json',
  make: ({ release }) => createSbom(release.committed),
  faults: ({ folder, lock }) =>
    faultsOfSbom(readJson(folder, 'sbom.cdx.json'), lock).map((fault) => `sbom.cdx.json ${fault}`),
};

export const licences: Report = {
  file: 'licences.json',
  make: ({ lock }) => {
    const texts: Record<string, string> = {};
    const packages = shippedPackages(lock).map((shipped) => {
      const own = Object.fromEntries(licenceTexts(shipped).map((text) => [sha256(text), text]));
      Object.assign(texts, own);
      const { name, version, license, optional } = shipped;
      return { name, version, license, optional, texts: Object.keys(own) };
    });
    return { packages, texts };
  },
  faults: ({ folder, lock, note }) => {
    const value = readJson(folder, 'licences.json');
    if (!isRecord(value) || !isRecord(value.texts)) return ['licences.json has no packages'];
    const { texts } = value;
    const label = (one: { name?: unknown; version?: unknown; license?: unknown }): string =>
      `${String(one.name)}@${String(one.version)} under ${String(one.license)}`;
    const listed = records(value.packages).map((one) => ({
      label: label(one),
      name: String(one.name),
      isAssessed: isAssessed(String(one.license)),
      texts: Array.isArray(one.texts) ? one.texts.map(String) : [],
    }));
    const known = listed.map((one) => one.label);
    const locked = shippedPackages(lock).map(label);
    // Packages without a licence file, or not installed where the evidence was made.
    const bare = listed.filter((one) => one.texts.length === 0).map(({ name }) => name);
    if (bare.length > 0) note(`licences.json: no text of ${bare.join(', ')}`);
    return [
      ...lacking(locked, known).map((one) => `lacks ${one}`),
      ...lacking(known, locked).map((one) => `has ${one}, which the package does not`),
      ...listed.filter((one) => !one.isAssessed).map((one) => `has ${one.label}, which was not assessed`),
      ...listed
        .flatMap((one) => one.texts)
        .filter((digest) => texts[digest] === undefined)
        .map((digest) => `lacks the text ${digest}`),
      ...Object.entries(texts)
        .filter(([digest, text]) => sha256(String(text)) !== digest)
        .map(([digest]) => `has another text than ${digest}`),
    ].map((fault) => `licences.json ${fault}`);
  },
};
