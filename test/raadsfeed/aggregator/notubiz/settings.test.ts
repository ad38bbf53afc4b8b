import { expect, it } from 'vitest';
import { createNotubizAdapter } from '../../../../src/raadsfeed/aggregator/notubiz/supplier.ts';
import { ConfigError, readConfig } from '../../../../src/settings/read-config.ts';
import { readTestConfig } from '../../../support/overrides.ts';
import { documentOf, meetingOf, registerItemOf } from './supplier/answers.ts';
import { NOW, QUARTER, SOURCE } from './supplier/memory-feed.ts';
import { startNotubiz } from './supplier/server.ts';

it('opens the adapter as configured', async () => {
  const supplier = await startNotubiz();
  supplier.organisation
    .addMeeting(meetingOf(20, { documents: [documentOf(1, { types: [{ id: 1, value: 'Motie' }] })] }))
    .addRegisterItem(6, registerItemOf(900, { main: [documentOf(2)] }));
  const env = {
    NODE_ENV: 'test',
    'aggregator.notubizUrl': supplier.base,
    NOTUBIZ_WOO_CATEGORIES: 'type:Motie=c_1,type:Raads voorstel = c_2,register:moties en amendementen=c_3',
  };
  const { notubizUrl: base, notubizWooCategories: categories } = readTestConfig(env, 'tool').aggregator;
  const adapter = createNotubizAdapter({ base, categories, clock: { now: () => NOW } });
  try {
    const reading = await adapter.readWindow({
      source: SOURCE,
      window: QUARTER,
      depth: 'full',
      known: [],
      signal: new AbortController().signal,
    });
    expect(reading).toMatchObject({
      complete: true,
      documents: [
        { bronidentificatie: 'document-1', wooinformatiecategorie: 'c_1' },
        { bronidentificatie: 'document-2' },
      ],
    });
    expect(reading.items.find(({ key }) => key === 'register-6-900')?.parts).toMatchObject([
      { wooinformatiecategorie: 'c_3' },
    ]);
  } finally {
    await adapter.close();
    await supplier.close();
  }
});

it.each(['Motie=c_1', 'soort:Motie=c_1', 'type:Motie', 'type:Motie=', 'type:=c_1', 'type:Motie=c 1', 'type:a=b=c'])(
  'refuses the Woo category %j',
  (value) => {
    expect(() => readConfig({ NOTUBIZ_WOO_CATEGORIES: value }, 'tool')).toThrow(ConfigError);
  },
);
