import { PROTOCOLS } from '../formats/ai-sdk/format.ts'
import type { Endpoint } from '../formats/format.ts'
import { endsAtClient, type Operation } from '../formats/operations.ts'
import type { KindForms } from './forms.ts'

/** An endpoint whose requests get to providers by forms of their kind, and not by formats. */
export interface KindEndpoint extends Endpoint {
  /** The form of its clients, by its name in `KindForms`. */
  client: string
  /** Loads the forms with the first request. */
  loadForms(): Promise<KindForms>
}

/** Is it an endpoint of a kind that has forms of its own? */
export const hasForms = (endpoint: Endpoint): endpoint is KindEndpoint => 'loadForms' in endpoint

/** Makes the operation of a kind. Absent members are as in chat. */
export const kindOperation = (operation: Pick<Operation, 'name' | 'kind'> & Partial<Operation>): Operation => ({
  endsAt: endsAtClient,
  ...operation,
})

/** An endpoint of a kind. */
export const kindEndpoint = (
  endpoint: Pick<KindEndpoint, 'path' | 'format' | 'client' | 'operation' | 'loadForms' | 'words'> &
    Partial<KindEndpoint>,
): KindEndpoint => ({
  reads: 'json',
  streams: 'never',
  upstreamPath: () => '', // the forms of vendors have paths of their own
  bound: { hasNoOutput: true },
  ...endpoint,
})

/**
 * The endpoint of a kind in the AI SDK's gateway protocol, in each version of it: the headers name the model and the version. `page`: that of the
 * AI SDK's documentation.
 */
export const aiSdkEndpoints = (
  name: string,
  {
    page,
    summary,
    ...endpoint
  }: Pick<KindEndpoint, 'operation' | 'loadForms'> & Partial<KindEndpoint> & { page: string; summary: string },
): KindEndpoint[] =>
  PROTOCOLS.map((protocol) =>
    kindEndpoint({
      path: `/v${protocol}/ai/${name}`,
      format: 'ai-sdk',
      client: 'ai-sdk',
      headers: { model: 'ai-model-id', version: `ai-${name}-specification-version` },
      version: protocol,
      words: { summary, vendor: 'AI SDK', reference: `https://ai-sdk.dev/docs/ai-sdk-core/${page}` },
      ...endpoint,
    }),
  )

/** In bytes: the size of all base64 in a value of JSON, with or without the beginning of a data URL. Short texts are names and media types. */
export function base64SizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length < 64 ? 0 : (value.length - value.indexOf(',') - 1) * 0.75
  return Object.values(value ?? {}).reduce<number>((size, one) => size + base64SizeOf(one), 0)
}
