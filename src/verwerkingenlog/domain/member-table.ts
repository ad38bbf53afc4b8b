/** Shown in the limited set, in the full set only, or in no answer. Each is a part of the proof; a member without one is not proven as itself. */
export type Part = 'basis' | 'aanvullend' | 'intern';

export interface Member {
  readonly column: string;
  readonly type: 'text' | 'uuid' | 'integer' | 'boolean' | 'timestamptz';
  readonly part?: Part;
  /** The format of the proof that first has it; default 1. An older entry is proven without it. */
  readonly since?: number;
  /** Callers may leave it out; then it is `null`. */
  readonly optional?: true;
  /** `log export --history` adds it to the answer. */
  readonly history?: true;
}

/** The members of a version, in the order of the answers. Columns, bodies, answers, exports and the parts of the proof follow from this table. */
export const MEMBERS = {
  actieId: { column: 'actie_id', type: 'uuid', part: 'basis' },
  tijdstipRegistratie: { column: 'tijdstip_registratie', type: 'timestamptz', part: 'basis' },
  actieNaam: { column: 'actie_naam', type: 'text', part: 'basis', optional: true },
  handelingNaam: { column: 'handeling_naam', type: 'text', part: 'basis', optional: true },
  verwerkingNaam: { column: 'verwerking_naam', type: 'text', part: 'basis', optional: true },
  verwerkingId: { column: 'verwerking_id', type: 'uuid', part: 'basis', optional: true },
  verwerkingsactiviteitId: { column: 'verwerkingsactiviteit_id', type: 'uuid', part: 'basis', optional: true },
  verwerkingsactiviteitUrl: { column: 'verwerkingsactiviteit_url', type: 'text', part: 'basis', optional: true },
  vertrouwelijkheid: { column: 'vertrouwelijkheid', type: 'text', part: 'basis' },
  bewaartermijn: { column: 'bewaartermijn', type: 'text', part: 'basis', optional: true },
  uitvoerder: { column: 'uitvoerder', type: 'text', part: 'basis', optional: true },
  systeem: { column: 'systeem', type: 'text', part: 'aanvullend', optional: true },
  gebruiker: { column: 'gebruiker', type: 'text', part: 'aanvullend', optional: true },
  gegevensbron: { column: 'gegevensbron', type: 'text', part: 'aanvullend', optional: true },
  soortAfnemerId: { column: 'soort_afnemer_id', type: 'text', part: 'basis', optional: true },
  afnemerId: { column: 'afnemer_id', type: 'text', part: 'basis', optional: true },
  verwerkingsactiviteitIdAfnemer: {
    column: 'verwerkingsactiviteit_id_afnemer',
    type: 'uuid',
    part: 'basis',
    optional: true,
  },
  verwerkingsactiviteitUrlAfnemer: {
    column: 'verwerkingsactiviteit_url_afnemer',
    type: 'text',
    part: 'basis',
    optional: true,
  },
  verwerkingIdAfnemer: { column: 'verwerking_id_afnemer', type: 'uuid', part: 'basis', optional: true },
  /** Answered and proven with its offset. */
  tijdstip: { column: 'tijdstip', type: 'timestamptz', part: 'basis' },
  tijdstipOffset: { column: 'tijdstip_offset', type: 'text' },
  versie: { column: 'versie', type: 'integer', part: 'intern', history: true },
  vervallen: { column: 'vervallen', type: 'boolean', part: 'intern', history: true },
  door: { column: 'door', type: 'text', part: 'intern', history: true },
  verzoekId: { column: 'verzoek_id', type: 'text', part: 'intern', history: true },
  ooitVertrouwelijk: { column: 'ooit_vertrouwelijk', type: 'boolean', part: 'intern' },
  ldv: { column: 'ldv', type: 'text', part: 'intern' },
  traceId: { column: 'trace_id', type: 'uuid', part: 'intern' },
  spanId: { column: 'span_id', type: 'text', part: 'intern' },
  ouderSpanId: { column: 'parent_span_id', type: 'text', part: 'intern' },
  fscTransactieId: { column: 'fsc_transaction_id', type: 'text', part: 'intern' },
} as const satisfies Readonly<Record<string, Member>>;
