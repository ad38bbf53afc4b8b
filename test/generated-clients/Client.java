import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.UUID;
import nl.raadsfeed.api.FeedApi;
import nl.raadsfeed.api.ResourcesApi;
import nl.raadsfeed.model.Agendapunt;
import nl.raadsfeed.model.FeedRecord;
import nl.raadsfeed.model.InformatieObject;
import nl.raadsfeed.model.Vergadering;
import nl.shv.api.GegevensApi;
import nl.shv.model.GegevensRequest;
import nl.verwerkingenlog.api.VerwerkingsactiesApi;
import nl.verwerkingenlog.api.VerwerkteObjectenApi;
import nl.verwerkingenlog.model.ObjecttypeInvoer;
import nl.verwerkingenlog.model.Verwerkingsactie;
import nl.verwerkingenlog.model.VerwerkingsactieInvoer;
import nl.verwerkingenlog.model.VerwerkingsactieLijst;
import nl.verwerkingenlog.model.VerwerkingsactieVolledig;
import nl.verwerkingenlog.model.Vertrouwelijkheid;
import nl.verwerkingenlog.model.VerwerktObjectInvoer;

/** A client of openapi-generator's `java`, against a running demo. It prints what it read, as JSON. */
public class Client {
  private static JsonNode demo;

  public static void main(String[] arguments) throws Exception {
    ObjectMapper mapper = new ObjectMapper();
    demo = mapper.readTree(System.in);
    System.out.println(
        mapper.writeValueAsString(Map.of("feed", readFeed(), "log", keepLog(), "delivery", receiveDelivery())));
  }

  private static String mount(String area) {
    return demo.get("mounts").get(area).asText();
  }

  private static Map<String, Object> readFeed() throws Exception {
    nl.raadsfeed.ApiClient client = new nl.raadsfeed.ApiClient();
    client.updateBaseUri(mount("raadsfeed"));
    FeedApi feed = new FeedApi(client);
    ResourcesApi resources = new ResourcesApi(client);
    List<List<Object>> records = new ArrayList<>();
    for (FeedRecord record : feed.getFeed(null, 100, "gm9901", null, null).getRecords())
      records.add(List.of(record.getSequenceNumber(), record.getOp().getValue()));
    TreeSet<String> snapshot = new TreeSet<>();
    for (FeedRecord record : feed.getSnapshot(null, 100, "gm9901", null, null).getRecords())
      snapshot.add(organisationOf(record.getData().getActualInstance()));
    List<Vergadering> meetings = resources.getVergaderingen("gm9901", null, null, null).getResults();
    List<Agendapunt> items = resources.getAgendapunten("gm9901", null, null, null).getResults();
    List<InformatieObject> documents = resources.getInformatieobjecten("gm9901", null, null, null).getResults();
    List<Object> all = new ArrayList<>(meetings);
    all.addAll(items);
    all.addAll(documents);
    TreeSet<String> organisations = new TreeSet<>();
    for (Object one : all) organisations.add(organisationOf(one));
    return Map.of(
        "role", feed.getServicedocument(null).getRol().getValue(),
        "feed", records,
        "snapshot", snapshot,
        "organisations", organisations,
        "collections", List.of(meetings.size(), items.size(), documents.size()),
        "one", resources.getVergadering("gm9901", meetings.get(0).getBronidentificatie(), null).getNaam());
  }

  private static String organisationOf(Object resource) {
    if (resource instanceof Vergadering) return ((Vergadering) resource).getOrganisatie().getNaam();
    if (resource instanceof Agendapunt) return ((Agendapunt) resource).getOrganisatie().getNaam();
    return ((InformatieObject) resource).getOrganisatie().getNaam();
  }

  private static Map<String, Object> keepLog() throws Exception {
    nl.verwerkingenlog.ApiClient client = new nl.verwerkingenlog.ApiClient();
    client.updateBaseUri(mount("verwerkingenlog"));
    client.setRequestInterceptor(
        request -> request.header("Authorization", "Bearer " + demo.get("logToken").asText()));
    VerwerkingsactiesApi api = new VerwerkingsactiesApi(client);
    String oin = demo.get("oin").asText();
    String identity = UUID.randomUUID().toString();
    UUID activity = UUID.randomUUID();
    OffsetDateTime moment = OffsetDateTime.parse("2026-01-15T13:35:42Z");
    VerwerktObjectInvoer person =
        new VerwerktObjectInvoer().objecttype(ObjecttypeInvoer.PERSOON).soortObjectId("TEST").objectId(identity);
    Verwerkingsactie logged =
        api.postVerwerkingsactie(
            new VerwerkingsactieInvoer()
                .actieNaam("Zoeken persoon")
                .vertrouwelijkheid(Vertrouwelijkheid.NORMAAL)
                .verwerkingsactiviteitId(activity)
                .bewaartermijn("P10Y")
                .tijdstip(moment)
                .addVerwerkteObjectenItem(person),
            UUID.randomUUID().toString());
    String verwerking = UUID.randomUUID().toString();
    VerwerkingsactieLijst found =
        api.getVerwerkingsacties(
            "persoon", "TEST", identity, "2026-01-01", "2026-02-01T00:00:00+01:00", activity, true,
            List.of("normaal"), null, 10, null, oin, UUID.randomUUID().toString(),
            URI.create("https://register.example/1"), verwerking, "normaal", "P10Y");
    Verwerkingsactie changed =
        api.putVerwerkingsactie(
            logged.getActieId(),
            new VerwerkingsactieVolledig()
                .actieNaam("Zoeken adres")
                .systeem("Balie 3")
                .vertrouwelijkheid(Vertrouwelijkheid.NORMAAL)
                .verwerkingsactiviteitId(activity)
                .bewaartermijn("P10Y")
                .tijdstip(moment)
                .addVerwerkteObjectenItem(person),
            null);
    List<String> objects = new ArrayList<>();
    new VerwerkteObjectenApi(client)
        .getVerwerkteObjecten(
            "persoon", "TEST", identity, null, null, null, null, null, oin, null, null, verwerking, null, null)
        .getResults()
        .forEach(one -> objects.add(one.getVerwerkingsactie().getActieNaam()));
    api.deleteVerwerkingsactie(logged.getActieId(), null);
    VerwerkingsactieLijst after =
        api.getVerwerkingsacties(
            "persoon", "TEST", identity, null, null, null, null, null, null, null, null, oin, null, null,
            verwerking, null, null);
    List<List<String>> names = new ArrayList<>();
    for (Verwerkingsactie one : found.getResults())
      names.add(List.of(one.getActieNaam(), one.getVertrouwelijkheid().getValue()));
    List<String> left = new ArrayList<>();
    for (Verwerkingsactie one : after.getResults()) left.add(one.getActieNaam());
    return Map.of(
        "found", names,
        "changed", List.of(changed.getActieNaam(), changed.getSysteem()),
        "objects", objects,
        "after", left);
  }

  private static Map<String, Object> receiveDelivery() throws Exception {
    nl.shv.ApiClient client = new nl.shv.ApiClient();
    client.updateBaseUri(mount("shv"));
    client.setRequestInterceptor(
        request -> request.header("Authorization", "Bearer " + demo.get("deliveryToken").asText()));
    nl.shv.model.GegevensResponse answer =
        new GegevensApi(client)
            .postGegevens(
                demo.get("digest").asText(), demo.get("signature").asText(), new GegevensRequest(),
                null, null, null, null, null, null);
    return Map.of(
        "supplier", answer.getGegevens().getCodeGegevensleverancier(),
        "deliveries", answer.getGegevens().getLeveringen().size());
  }
}
