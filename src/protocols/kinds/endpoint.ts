import { PROTOCOL_VERSIONS } from '../formats/ai-sdk/ai-sdk-format.ts'
import type { Endpoint } from '../formats/format.ts'
import { isFinalForClient, type Operation } from '../formats/model-operations.ts'
import type { KindAdapters } from './kind-adapters.ts'

/** An endpoint with requests that a kind's adapters translate, rather than a format. */
export interface KindEndpoint extends Endpoint {
  /** The client adapter's name in `KindAdapters`. */
  client: string
  /** Loads the adapters on the first request. */
  loadAdapters(): Promise<KindAdapters>
}

/** Returns whether an endpoint's kind has its own adapters. */
export const hasAdapters = (endpoint: Endpoint): endpoint is KindEndpoint => 'loadAdapters' in endpoint

/** Creates a kind's operation. Absent fields have the same defaults as in chat. */
export const createOperation = (operation: Pick<Operation, 'name' | 'kind'> & Partial<Operation>): Operation => ({
  isFinal: isFinalForClient,
  ...operation,
})

/** Creates an endpoint for a kind. */
export const createEndpoint = (
  endpoint: Pick<KindEndpoint, 'path' | 'format' | 'client' | 'operation' | 'loadAdapters'> & Partial<KindEndpoint>,
): KindEndpoint => ({
  bodyType: 'json',
  streams: 'never',
  upstreamPath: () => '', // vendor adapters have their own paths
  ...endpoint,
})

/** Creates a kind's endpoints, one for each version of the AI SDK's gateway protocol. Its headers contain the model and the version. */
export const createAiSdkEndpoints = (
  name: string,
  endpoint: Pick<KindEndpoint, 'operation' | 'loadAdapters'> & Partial<KindEndpoint>,
): KindEndpoint[] =>
  PROTOCOL_VERSIONS.map((protocol) =>
    createEndpoint({
      path: `/v${protocol}/ai/${name}`,
      format: 'ai-sdk',
      client: 'ai-sdk',
      headers: { model: 'ai-model-id', version: `ai-${name}-specification-version` },
      version: protocol,
      ...endpoint,
    }),
  )

/**
 * Returns the total size in bytes of all base64 in a JSON value, with or without a data URL prefix. Skips short strings, which are names and media
 * types.
 */
export function getBase64Size(value: unknown): number {
  if (typeof value === 'string') return value.length < 64 ? 0 : (value.length - value.indexOf(',') - 1) * 0.75
  return Object.values(value ?? {}).reduce<number>((size, item) => size + getBase64Size(item), 0)
}
