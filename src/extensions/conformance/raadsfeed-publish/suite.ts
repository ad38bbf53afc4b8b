/** The suite for a publisher of council information: what happens when it publishes. */
import { randomBytes } from 'node:crypto';
import { Inconclusive, type Suite } from '../case.ts';
import type { Client } from '../client.ts';
import { readSubject } from '../raadsfeed/subject.ts';
import { RAADSFEED } from '../raadsfeed/suite.ts';
import { runCommand } from '../run-command-line.ts';
import { APPEARING } from './appearing.ts';
import { CHANGING, DELETING } from './changing.ts';
import { REDACTING } from './redacting.ts';
import { createStory, type Publish, type PublishSubject } from './story.ts';

export const RAADSFEED_PUBLISH: Suite<PublishSubject> = {
  name: 'raadsfeed-publish',
  title: {
    nl: 'Publicatie van raadsinformatie, met `--publish`',
    en: 'Publishing council information, with `--publish`',
  },
  chapters: [APPEARING, CHANGING, DELETING, REDACTING],
};

/** Reading and publishing. */
export const WITH_PUBLISHING: Suite<PublishSubject> = {
  ...RAADSFEED,
  chapters: [...RAADSFEED.chapters, ...RAADSFEED_PUBLISH.chapters],
};

interface PublishNeeds {
  readonly url: string;
  readonly client: Client;
  readonly publish: Publish;
  readonly patienceMs: number;
  readonly say: (text: string) => void;
}

/** @throws {Skipped} when there is no organisation to publish for */
export async function openPublishSubject({
  url,
  client,
  publish,
  patienceMs,
  say,
}: PublishNeeds): Promise<PublishSubject> {
  const subject = await readSubject(url, client);
  const run = randomBytes(4).toString('hex');
  const story = createStory({ subject, publish, patienceMs, run });
  say(
    `publishes about a dozen resources of ${subject.values.organisation} whose bronidentificatie begins with conformance-${run}, and deletes them`,
  );
  return { ...subject, story, undo: story.undo };
}

const TIMEOUT_MS = 60_000;
const SHOWN = 500;

interface PublishCommand {
  /** Words; no shell reads them. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Runs a command for each line, which is on its standard input. */
export function publishByCommand(options: PublishCommand): Publish {
  return async (line, signal = options.signal) => {
    const { status, stdout, stderr } = await runCommand({
      ...{ ...options, signal, timeoutMs: TIMEOUT_MS },
      input: `${JSON.stringify(line)}\n`,
    });
    if (status !== 0)
      throw new Inconclusive(
        `the command for \`--publish\` ended with status ${status}: ${`${stderr} ${stdout}`.slice(0, SHOWN)}`,
      );
  };
}
