import * as v from 'valibot'
import { anyObject, closedObject, createInputError, fields, parseInput, rejectArray } from '../../admin/input.ts'
import { findRecord, requirePresent } from '../../admin/record-operations.ts'
import { type GatewayError, isGatewayError } from '../../errors.ts'
import { getKeyRejection } from '../../records/key-format.ts'
import type { ClientKey } from '../../records/key-lookup.ts'
import type { WritableStore } from '../../records/writable-store.ts'
import { ANONYMOUS_CALLER, type Caller, type CallerAccount, getKeyCaller } from '../../request/caller.ts'
import type { Pipeline } from '../../request/pipeline.ts'
import type { ChooseModels } from '../../request/route-call.ts'
import type { Explanation } from '../../request/routing/explanation.ts'
import type { RejectionPreview } from '../../request/steps.ts'
import type { Clock } from '../../types.ts'
import type { PromptCachingFeature } from '../prompt-caching/prompt-caching-feature.ts'
import { explainRouting, type RoutingInput } from './route-explanation.ts'

/** A request to explain without sending it. */
export interface ExplainedRequest {
  /** A listed model name, an alias, or a combo. */
  model: string
  /** The request body. Default: one without messages. Its `model` is ignored. */
  body?: object
  /** Headers by case-insensitive name. */
  headers?: Record<string, string>
  /** The request path. Default: `/v1/chat/completions`. Paths that aren't model endpoints fail with `INVALID_REQUEST`. */
  path?: string
  /** The ID of an API key. The explanation takes into account the allowed models, kinds, and limits of the key and its account. Default: no key. */
  keyId?: string
  /** The ID or ref of the account in your app that would make the request. Can't be combined with `keyId`. */
  account?: string
}

const HEADERS_MESSAGE = 'must be an object that maps header names to strings'

export const explainInput = closedObject({
  model: fields.model,
  body: v.exactOptional(anyObject('must be an object (the request body)')),
  headers: v.exactOptional(
    v.pipe(rejectArray(HEADERS_MESSAGE), v.record(v.string(), v.string('must be a string'), HEADERS_MESSAGE)),
  ),
  path: v.exactOptional(fields.text),
  keyId: v.exactOptional(fields.text),
  account: v.exactOptional(fields.text),
})

/** Explains how a request would be routed. */
export type Explain = (request: ExplainedRequest) => Promise<Explanation>

export interface ExplainDependencies {
  pipeline: Pick<Pipeline, 'getContext'>
  /** Returns the models and kinds that a caller may use. */
  getAccess(caller: Caller): Promise<RoutingInput['access']>
  /** Previews why the caller's limits would reject a request. */
  previewLimits(caller: Caller): Promise<RejectionPreview>
  /** The `route` function. Absent if there is none. */
  route?: { load(): Promise<{ choose: ChooseModels }> } | undefined
  accounts(): Promise<AccountResolver>
  promptCaching: Pick<PromptCachingFeature, 'load'>
  store: WritableStore
  clock: Clock
}

/** The account functions that explanations need. */
interface AccountResolver {
  refs: { resolve(idOrRef: string): Promise<string> }
  cache: { find(ref: string): Promise<{ ref: string } | undefined> }
  getKeyAccount(key: Pick<ClientKey, 'name' | 'account'>): Promise<CallerAccount>
}

export function createExplain(dependencies: ExplainDependencies) {
  const { pipeline, getAccess, previewLimits, route, accounts, promptCaching, store, clock } = dependencies

  /** Finds the caller. Rejects with the error that the caller's requests would get. */
  async function findCaller({ keyId, account: idOrRef }: Pick<ExplainedRequest, 'keyId' | 'account'>): Promise<Caller> {
    if (keyId !== undefined) {
      const { id: digest } = await findRecord(store.keys, 'Key', ({ id }) => id === keyId)
      const key = requirePresent(await (await store.loadKeyAccess()).lookup.read(digest), 'Key')
      const rejection = getKeyRejection(key, clock.now())
      if (rejection) throw rejection
      if (key.account === undefined) return getKeyCaller(key)
      const account = await (await accounts()).getKeyAccount(key)
      return { owner: account.ref, key, account }
    }
    if (idOrRef === undefined) return ANONYMOUS_CALLER
    const { refs, cache, getKeyAccount } = await accounts()
    const { ref } = requirePresent(await cache.find(await refs.resolve(idOrRef)), 'Account')
    return { owner: ref, key: undefined, account: await getKeyAccount({ name: '', account: ref }) }
  }

  return async (request: unknown): Promise<Explanation> => {
    const input = parseInput(explainInput, request)
    const { model, body = {}, headers = {}, path = '/v1/chat/completions' } = input
    if (input.keyId !== undefined && input.account !== undefined) throw createInputError(KEY_OR_ACCOUNT)
    const headerMap = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    const caller = await findCaller(input).catch(toRejection)
    if (isGatewayError(caller)) return { model, targets: [], leftOut: [], error: formatError(caller) }
    const chooseModels = route && (await route.load()).choose
    const routing = { model, body, headers: headerMap, path, caller, chooseModels, promptCaching }
    if (caller === ANONYMOUS_CALLER) return explainRouting(routing, pipeline.getContext())
    const [access, previewRejection] = await Promise.all([getAccess(caller), previewLimits(caller)])
    return explainRouting({ ...routing, access, previewRejection }, pipeline.getContext())
  }
}

/** Returns the error if all of the caller's requests would get it, for example because the key is paused. Rethrows any other error. */
function toRejection(error: unknown): GatewayError {
  if (isGatewayError(error) && (error.status === 401 || error.status === 403)) return error
  throw error
}

const KEY_OR_ACCOUNT = '"account" cannot be combined with "keyId"; omit one of them'

const formatError = ({ status, code, message }: GatewayError) => ({ status, code, message })
