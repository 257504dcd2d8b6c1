import type { Effort } from '../traits.ts'
import type { ClientFormat, Kind, ProviderFormat, WireFormat } from './catalog-types.ts'
import type { Condition, ResponseCondition, Strategy } from './combo.ts'

/* Values of unions that users write. They are records, so the compiler requires every member here. */

/** Every kind of model. */
export const kinds = listMembers<Kind>({
  llm: true,
  image: true,
  tts: true,
  stt: true,
  embedding: true,
  imageToText: true,
  webSearch: true,
  webFetch: true,
  rerank: true,
  moderation: true,
})

/** Every routing strategy. */
export const strategies = listMembers<Strategy>({
  fallback: true,
  'round-robin': true,
  weighted: true,
  random: true,
  'least-latency': true,
  'least-cost': true,
  'least-busy': true,
  sticky: true,
  conditional: true,
})

/** Every response condition for a combo's `on`, except functions. */
export const responseConditions = listMembers<Exclude<ResponseCondition, 'function'>>({
  content: true,
  schema: true,
  refused: true,
})

/** Every reasoning effort, from none to the highest. */
export const efforts = listMembers<Effort>({
  none: true,
  minimal: true,
  low: true,
  medium: true,
  high: true,
  xhigh: true,
  max: true,
})

/** The names of the conditions in a combo entry's `when`. */
export const conditionNames: readonly string[] = listMembers<keyof Condition>({
  model: true,
  bytes: true,
  stream: true,
  tools: true,
  images: true,
  headers: true,
  metadata: true,
  function: true,
})

/** Every format supported for both clients and providers. */
export const wireFormats = listMembers<WireFormat>({
  'openai-chat': true,
  'openai-responses': true,
  'anthropic-messages': true,
  gemini: true,
})

/** Every format supported for clients. */
export const clientFormats: readonly ClientFormat[] = [
  ...wireFormats,
  ...listMembers<Exclude<ClientFormat, WireFormat>>({ 'ai-sdk': true }),
]

/** Every format supported for providers. */
export const providerFormats: readonly ProviderFormat[] = [
  ...wireFormats,
  ...listMembers<Exclude<ProviderFormat, WireFormat>>({ 'bedrock-converse': true }),
]

/**
 * Additional values of a connection's `format`. They determine how to call a server that isn't in the catalog, for every kind except chat. Their
 * adapters are in src/protocols/kinds.
 */
export const vendorFormats = [
  'brave',
  'cohere',
  'deepgram',
  'elevenlabs',
  'exa',
  'firecrawl',
  'jina',
  'mistral',
  'nvidia',
  'perplexity',
  'searxng',
  'serper',
  'tavily',
  'tei',
  'together',
  'voyage',
] as const

/** A vendor format's name. */
export type VendorFormatName = (typeof vendorFormats)[number]

/** Lists the members of a union, in the order of the record. The compiler rejects a record that lacks a member. */
/* @__NO_SIDE_EFFECTS__ */
export function listMembers<Union extends string>(members: Record<Union, true>): readonly Union[] {
  return Object.keys(members) as Union[] // the record has no other keys
}
