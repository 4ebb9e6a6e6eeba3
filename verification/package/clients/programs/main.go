// Takes a permit that it has to wait for, refreshes it and releases it, with the generated client.
package main

import (
	"context"
	"fmt"
	"os"

	gatekeeper "github.com/gatekeeper/client"
)

func main() {
	settings := gatekeeper.NewConfiguration()
	settings.Servers = gatekeeper.ServerConfigurations{{URL: os.Getenv("GATEKEEPER_URL")}}
	ctx := context.WithValue(context.Background(), gatekeeper.ContextAccessToken, os.Getenv("GATEKEEPER_TOKEN"))
	permits := gatekeeper.NewAPIClient(settings).PermitsAPI

	request := gatekeeper.NewTakePermitRequest("job")
	request.SetHolder("go")
	request.SetDuration(gatekeeper.Duration{Int64: gatekeeper.PtrInt64(5000)})
	_, _, err := permits.TakePermit(ctx).TakePermitRequest(*request).Execute()
	denial := err.(*gatekeeper.GenericOpenAPIError).Model().(gatekeeper.Problem)
	fmt.Println("denied", string(denial.GetReason()))

	request.SetWait(gatekeeper.Wait{String: gatekeeper.PtrString("30s")})
	permit, _, err := permits.TakePermit(ctx).TakePermitRequest(*request).Execute()
	must(err)
	fmt.Println("granted", permit.GetToken())

	refresh := gatekeeper.NewRefreshPermitRequest("job", permit.GetToken())
	refreshed, _, err := permits.RefreshPermit(ctx, permit.GetId()).RefreshPermitRequest(*refresh).Execute()
	must(err)
	fmt.Println("refreshed", refreshed.GetToken())

	release := gatekeeper.NewReleasePermitRequest("job")
	released, _, err := permits.ReleasePermit(ctx, permit.GetId()).ReleasePermitRequest(*release).Execute()
	must(err)
	fmt.Println("released", released.GetReleased())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
