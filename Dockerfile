# One image for every long-running role: the command says which.
#   docker build --build-arg VERSION=$(git describe --tags --always) -t holdfast .
#   docker run holdfast serve
# The build stage runs on the builder's own machine and cross-compiles, so an
# arm64 image needs no emulation.
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
# The context has neither the repository nor the tests, so the version is told.
ARG VERSION=unknown
ARG TARGETOS=linux
ARG TARGETARCH=arm64
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false -ldflags "-s -w -X github.com/holdfast/holdfast/cli.stamp=$VERSION" -o /out/holdfast ./cmd/holdfast

# No shell, no package manager, certificates and time zones only; user 65532.
FROM gcr.io/distroless/static-debian12:nonroot
ARG VERSION=unknown
LABEL org.opencontainers.image.title="holdfast" org.opencontainers.image.version="$VERSION"
COPY --from=build /out/holdfast /holdfast
USER 65532:65532
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
ENTRYPOINT ["/holdfast"]
