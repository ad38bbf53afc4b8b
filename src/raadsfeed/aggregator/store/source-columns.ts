/** The columns of a source, by the names of `Source`. */
export const SOURCE_COLUMNS = `id, adres, soort, organisatiecodes, naam, portaal, vanaf::text as vanaf, feed_url as "feedUrl",
  snapshot_url as "snapshotUrl", rol, document_etag as "documentEtag", document_op as "documentOp", fase, vergelijken,
  stand_cursor as "standCursor", stand_feed_cursor as "standFeedCursor", cursor, etag, laatste_nummer as "laatsteNummer",
  paginagrootte, mag_massaal as "magMassaal", hervergelijken, stand_begonnen as "standBegonnen", historie_lezen as "historieLezen",
  historie_cursor as "historieCursor", historie_na as "historieNa", historie_sluit_aan as "historieSluitAan",
  historie_gemist as "historieGemist", voortgang, vooruit, genoemd, hash_klopt as "hashKlopt", niets_te_lezen as "nietsTeLezen",
  mislukt, fout_soort as "foutSoort"`;
