/** A function URL's event, payload version 2.0. Contains only the members that the adapter uses. */
export interface LambdaUrlEvent {
  readonly rawPath: string
  readonly rawQueryString?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly cookies?: readonly string[]
  readonly body?: string
  readonly isBase64Encoded?: boolean
  readonly requestContext: { readonly domainName?: string; readonly http: { readonly method: string } }
}

/** An invocation's context. Contains only the members that the adapter uses. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number
}

/** Node's writable stream for the response. Contains only the members that the adapter uses. */
export interface LambdaResponseStream {
  write(chunk: Uint8Array | string): boolean
  end(): void
  destroy(error?: Error): void
  on(event: 'close' | 'error', listener: () => void): void
  once(event: 'drain', listener: () => void): void
}

/** A handler that writes its response to a stream. */
export type LambdaHandler = (
  event: LambdaUrlEvent,
  stream: LambdaResponseStream,
  context: LambdaContext,
) => Promise<void>

/** A response's status and headers. */
export interface LambdaHead {
  statusCode: number
  headers: Record<string, string>
  cookies: string[]
}

/** The global `awslambda` of Lambda's runtimes for Node. Contains only the members that the adapter uses. */
export interface LambdaRuntime {
  streamifyResponse(handler: LambdaHandler): LambdaHandler
  HttpResponseStream: { from(stream: LambdaResponseStream, head: LambdaHead): LambdaResponseStream }
}
