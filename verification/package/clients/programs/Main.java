import gatekeeper.ApiClient;
import gatekeeper.ApiException;
import gatekeeper.api.PermitsApi;
import gatekeeper.model.Duration;
import gatekeeper.model.Problem;
import gatekeeper.model.RefreshPermitRequest;
import gatekeeper.model.ReleasePermitRequest;
import gatekeeper.model.TakePermitRequest;
import gatekeeper.model.Wait;

/** Takes a permit that it has to wait for, refreshes it and releases it, with the generated client. */
public class Main {
  public static void main(String[] arguments) throws Exception {
    var authorization = "Bearer " + System.getenv("GATEKEEPER_TOKEN");
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("GATEKEEPER_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", authorization));
    var permits = new PermitsApi(client);

    var take = new TakePermitRequest().semaphore("job").holder("java").duration(new Duration(5000L));
    try {
      permits.takePermit(take);
    } catch (ApiException denied) {
      var problem = client.getObjectMapper().readValue(denied.getResponseBody(), Problem.class);
      System.out.println("denied " + problem.getReason().getValue());
    }

    var permit = permits.takePermit(take.wait(new Wait("30s")));
    System.out.println("granted " + permit.getToken());

    var refresh = new RefreshPermitRequest().semaphore("job").token(permit.getToken());
    System.out.println("refreshed " + permits.refreshPermit(permit.getId(), refresh).getToken());

    var release = new ReleasePermitRequest().semaphore("job");
    System.out.println("released " + permits.releasePermit(permit.getId(), release).getReleased());
  }
}
