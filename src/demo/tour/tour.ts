import type { Platform } from '../../kernel/platform.ts';
import type { DemoClient } from '../client/demo-client.ts';
import type { Demo } from '../start-demo.ts';
import type { Transcript } from '../transcript.ts';
import { tourFeed } from './tour-feed.ts';
import { tourGegevens } from './tour-gegevens.ts';
import { tourLog } from './tour-log.ts';

export interface TourNeeds {
  readonly demo: Demo;
  readonly client: DemoClient;
  readonly transcript: Transcript;
  /** For what has no address to the outside: publishing to the feed. */
  readonly platform: Platform;
}

/** Plays the clients of every mounted area and checks what they get. */
export async function playTour(needs: TourNeeds): Promise<void> {
  const { areas } = needs.demo.config.server;
  if (areas.includes('shv')) await tourGegevens(needs, 'shv');
  if (areas.includes('vs')) await tourGegevens(needs, 'vs');
  if (areas.includes('verwerkingenlog')) await tourLog(needs);
  if (areas.includes('raadsfeed')) await tourFeed(needs);
}
