/** The suite for a publisher of council information: the effects of publishing. */
import { randomBytes } from 'node:crypto';
import { Inconclusive, type Suite } from '../case.ts';
import { type ProgramOptions, runCommand } from '../child-program.ts';
import type { FeedSubject } from '../raadsfeed/subject.ts';
import { RAADSFEED } from '../raadsfeed/suite.ts';
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

export const WITH_PUBLISHING: Suite<PublishSubject> = {
  ...RAADSFEED,
  chapters: [...RAADSFEED.chapters, ...RAADSFEED_PUBLISH.chapters],
};

/**
 * @param patienceMs for a publication to appear
 * @throws {Skipped} when there is no organisation to publish for
 */
export async function openPublishSubject(
  subject: FeedSubject,
  publish: Publish,
  patienceMs: number,
  say: (text: string) => void,
): Promise<PublishSubject> {
  const run = randomBytes(4).toString('hex');
  const story = createStory(subject, publish, patienceMs, run);
  say(
    `publishes about a dozen resources of ${subject.values.organisation} whose bronidentificatie begins with conformance-${run}, and deletes them`,
  );
  return { ...subject, story, undo: story.undo };
}

/** Runs a command for each line, passed on its standard input. */
export function publishByCommand(options: ProgramOptions): Publish {
  return async (line, signal = options.signal) => {
    const { failure } = await runCommand({ ...options, signal, input: `${JSON.stringify(line)}\n` });
    if (failure !== undefined) throw new Inconclusive(`--publish: ${failure}`);
  };
}
