"""Takes a permit that it has to wait for, refreshes it and releases it, with the generated client."""

import json
import os

from openapi_client import ApiClient, ApiException, Configuration, PermitsApi
from openapi_client import Duration, RefreshPermitRequest, ReleasePermitRequest, TakePermitRequest, Wait

settings = Configuration(host=os.environ["GATEKEEPER_URL"], access_token=os.environ["GATEKEEPER_TOKEN"])
with ApiClient(settings) as client:
    permits = PermitsApi(client)
    request = TakePermitRequest(semaphore="job", holder="python", duration=Duration(5000), wait=Wait(0))
    try:
        permits.take_permit(request)
    except ApiException as denial:
        print("denied", json.loads(denial.body)["reason"], flush=True)

    request.wait = Wait("30s")
    permit = permits.take_permit(request)
    print("granted", permit.token, flush=True)

    refreshed = permits.refresh_permit(permit.id, RefreshPermitRequest(semaphore="job", token=permit.token))
    print("refreshed", refreshed.token, flush=True)

    released = permits.release_permit(permit.id, ReleasePermitRequest(semaphore="job"))
    print("released", str(released.released).lower(), flush=True)
