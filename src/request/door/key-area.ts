import type { Exchange, Reply } from '../../lib/exchange.ts'
import { once } from '../../lib/promises.ts'
import type { Endpoint } from '../../protocols/formats/format.ts'
import { loadFormatErrors } from '../../protocols/formats/load-format-errors.ts'
import { ANONYMOUS_CALLER, type Caller } from '../caller.ts'
import type { Client } from '../request-client.ts'
import type { RequestLog, ServedRoute } from '../request-log.ts'
import { RouteRequest, type RouteRequestParts } from '../route-request.ts'
import { type RequestStep, runSteps } from '../steps.ts'
import { type Area, type AreaRequest, withoutBody } from './area.ts'
import { addCostHeaders } from './cost-header.ts'
import { copyErrorMessage } from './error-members.ts'
import type { IdentifyCaller } from './identify-caller.ts'
import { withModelsFolder } from './model-routes.ts'
import { createRouter, type FoundRoute, type HttpRoute } from './router.ts'

const loadErrorReply = once(async () => {
  const [errorReply] = await Promise.all([import('./models-error-reply.ts'), loadFormatErrors()])
  return errorReply
})

/** The dependencies of areas that need client keys. */
export interface KeyAreaOptions {
  /** Finds a request's caller, and stores it in the request's client. Rejects with the error that the client gets. */
  authenticate(exchange: Exchange, client: Client | undefined): Promise<Caller>
  /** Finds the callers that your app identifies: callers with an `authenticator` and, if `isDefault` is set, all other clients. */
  identity?: { identify: IdentifyCaller; isDefault: boolean; markPrivate(reply: Reply): Promise<Reply> }
  /** Starts the log for a request to a recorded route. Absent if another gateway logs it. */
  openLog?(exchange: Exchange, route: Endpoint | ServedRoute): RequestLog
  /** Runs around each request to a recorded route, once its caller is known and before its body is read. */
  aroundRequest?: readonly RequestStep[]
  /** Called once the caller of any request is known, before its route runs. A reply ends the request. */
  onCallerIdentified?(exchange: Exchange, caller: Caller): Promise<Reply | undefined>
  /** Throws `CLOSED` once the gateway has closed. Also called after each wait, in case it closed in the meantime. */
  assertOpen(): void
  /** Called for each authorized request, after the settings have been read. Resumes the gateway's background work. Never rejects. */
  resume?(exchange: Exchange): Promise<void>
  onError(error: unknown): void
}

/** The response header with the request's ID in records. */
const REQUEST_ID_HEADER = 'x-signalbox-request-id'

/**
 * Creates the function that handles requests to areas that need client keys. A request is authorized before its route runs, so no path can be left
 * unguarded (src/rules.md, Guard before routes). Only `OPTIONS` needs no key (src/rules.md, Client keys). Clients get errors in their own format.
 */
export function serveWithKeys(routes: readonly HttpRoute[], options: KeyAreaOptions): Area['serve'] {
  const {
    authenticate,
    identity,
    openLog,
    aroundRequest = [],
    onCallerIdentified,
    assertOpen,
    resume,
    onError,
  } = options
  const router = createRouter(routes)
  const getIdentifyCaller = ({
    authenticator,
    exchange: { actsAs, method },
  }: AreaRequest): IdentifyCaller | undefined => {
    const needsIdentity = authenticator !== undefined || (identity?.isDefault && actsAs === undefined)
    return needsIdentity && method !== 'OPTIONS' ? identity?.identify : undefined
  }
  const runWithSteps = runSteps<RecordedRequest>(aroundRequest, ({ foundRoute, exchange, caller, log }) =>
    foundRoute.run({ exchange, caller, log }),
  )

  async function serve(request: AreaRequest): Promise<Reply> {
    const { exchange } = request
    const path = withModelsFolder(request.path)
    let log: RequestLog | undefined
    let caller = ANONYMOUS_CALLER
    let route: Endpoint | ServedRoute | undefined
    try {
      const foundRoute = router.findExact(exchange, path) ?? (await router.findByPattern(exchange, path))
      route = foundRoute.endpointMatch?.route
      log = route && openLog?.(exchange, route)
      assertOpen()
      if (exchange.method !== 'OPTIONS') {
        const identify = getIdentifyCaller(request)
        caller = identify ? await identify(request, { log, route }) : await authenticate(exchange, log?.client)
        assertOpen()
        void resume?.(exchange)
        const earlyReply = await onCallerIdentified?.(exchange, caller)
        if (earlyReply) return earlyReply
      }
      if (!log || !route) return copyErrorMessage(await foundRoute.run({ exchange, caller, log }), route)
      const reply = addCostHeaders(
        await runWithSteps(new RecordedRequest({ exchange, caller, log, route }, foundRoute)),
        log,
      )
      return withRequestId(copyErrorMessage(log.reply(omitHeadBody(exchange, reply)), route), log)
    } catch (error) {
      log?.end(log.createErrorEnding(error))
      const { createModelsErrorReply } = await loadErrorReply()
      const reply = await createModelsErrorReply(error, request, onError)
      return withRequestId(copyErrorMessage(reply, route), log)
    }
  }

  return (request) => {
    const replyPromise = serve(request)
    return identity && getIdentifyCaller(request) ? replyPromise.then(identity.markPrivate) : replyPromise
  }
}

/** A request passing through the steps around it. */
class RecordedRequest extends RouteRequest {
  readonly foundRoute: FoundRoute

  constructor(parts: RouteRequestParts, foundRoute: FoundRoute) {
    super(parts)
    this.foundRoute = foundRoute
  }
}

/** Drops a `HEAD` reply's body, so that the request doesn't wait for it. */
const omitHeadBody = ({ method }: Exchange, reply: Reply): Reply => (method === 'HEAD' ? withoutBody(reply) : reply)

function withRequestId(reply: Reply, log: RequestLog | undefined): Reply {
  if (log) reply.headers[REQUEST_ID_HEADER] = log.id // a reply has its own headers object, so this changes no other reply
  return reply
}
