/** The format of a file follows from its name, and from its address if nothing else indicates it. */
import { expect, it, onTestFinished } from 'vitest';
import { freshIbabs, feed as ibabsFeed, round, site } from './ibabs/fresh-ibabs.ts';
import { guid, documentOf as ibabsDocumentOf, meetingOf as ibabsMeetingOf } from './ibabs/server.ts';
import { documentOf, meetingOf } from './notubiz/supplier/answers.ts';
import { MemoryFeed } from './notubiz/supplier/memory-feed.ts';
import { startNotubiz } from './notubiz/supplier/server.ts';

freshIbabs();

const link = (name: string): string => `https://api1.ibabs.example/${name}`;

it.each([
  [{ FileName: 'nota.docx', PublicDownloadURL: link('nota.pdf') }, expect.stringContaining('wordprocessingml')],
  [{ FileName: null, PublicDownloadURL: link('nota.pdf') }, 'application/pdf'],
  [{ FileName: 'nota', PublicDownloadURL: link('download.aspx?id=1&naam=nota.PDF') }, 'application/pdf'],
  [{ FileName: 'nota', PublicDownloadURL: link('download.aspx?id=1') }, undefined],
])('of iBabs: %o', async (more, formaat) => {
  site.meetings = [ibabsMeetingOf(1, '2026-01-29', { Documents: [ibabsDocumentOf(501, more)] })];
  await round();
  expect(ibabsFeed.get(`Informatieobject/ibabs-document-${guid(501)}`).formaat).toEqual(formaat);
});

it.each([
  ['application/msword', 'nota.pdf', 'application/msword'],
  [null, 'nota.pdf', 'application/pdf'],
  ['pdf', 'nota.pdf', 'application/pdf'],
  [null, 'nota', undefined],
])('of NotuBiz: %j and %j', async (mime_type, file_name, formaat) => {
  const supplier = await startNotubiz();
  onTestFinished(() => supplier.close());
  const feed = new MemoryFeed(supplier);
  onTestFinished(() => feed.adapter.close());
  const versions = [{ id: 1, type: 'file', mime_type, file_name, file_size: 10 }];
  supplier.organisation.addMeeting(meetingOf(20, { documents: [documentOf(1, { versions })] }));
  await feed.round();
  expect(feed.get('Informatieobject/document-1').formaat).toBe(formaat);
});
