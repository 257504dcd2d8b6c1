import { decodeUtf8Lenient } from '../../../lib/bytes.ts'
import type { UpstreamCall, UpstreamFetch } from '../../../lib/exchange.ts'
import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import { replaceMembers } from '../../../lib/json-edit.ts'
import { scanTopLevel } from '../../../lib/json-scan.ts'
import { encodePathSegment, trimTrailing } from '../../../lib/urls.ts'
import type { ProviderTarget } from '../../../protocols/providers/target.ts'
import type { ProviderSpecificData } from '../../../types.ts'
import { createCall, type UpstreamRequest } from '../upstream-request.ts'
import { addBlockBreakpoint } from './block-breakpoint.ts'
import { API_KEY_PATTERN, parseServiceAccount } from './cloud-rules.ts'
import type { GetGoogleToken } from './google-tokens.ts'

/**
 * Converts a Messages request for Vertex: the model and the streaming mode are in the path, the version is in the body, and fields that Vertex
 * rejects are removed. https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai
 */
function toVertexClaude(
  { path, headers: clientHeaders, body = '' }: UpstreamRequest,
  model: string,
): Omit<UpstreamRequest, 'query'> {
  const { 'anthropic-version': _, 'anthropic-beta': betaHeader = '', ...headers } = clientHeaders
  const text = removeScopes(typeof body === 'string' ? body : decodeUtf8Lenient(body))
  const version = { anthropic_version: 'vertex-2023-10-16' }
  if (path.endsWith('/count_tokens')) {
    // Vertex counts tokens with its own model, without betas.
    const countBody = replaceMembers(text, REJECTED_FIELDS, version)
    return { path: `${PUBLISHER_PATH}/count-tokens:rawPredict`, headers, body: countBody }
  }
  const betas = betaHeader.split(',').map((beta) => beta.trim())
  const headerBetas = [...new Set(betas.flatMap((beta) => HEADER_BY_FIELD[beta] ?? []))].join(',')
  const bodyBetas = betas.filter((beta) => BODY_BETA_PATTERN.test(beta))
  const [streamSpan] = scanTopLevel(text, ['stream']).spans
  const isStream = streamSpan !== undefined && text.slice(streamSpan.start, streamSpan.end) === 'true'
  const modelSegment = encodePathSegment(model).replaceAll('%40', '@')
  return {
    path: `${PUBLISHER_PATH}/${modelSegment}:${isStream ? 'streamRawPredict' : 'rawPredict'}`,
    headers: headerBetas === '' ? headers : { ...headers, 'anthropic-beta': headerBetas },
    body: replaceMembers(
      addBlockBreakpoint(text),
      ['model', ...REJECTED_FIELDS],
      bodyBetas.length > 0 ? { ...version, anthropic_beta: bodyBetas } : version,
    ),
  }
}

const PUBLISHER_PATH = '/publishers/anthropic/models'

/**
 * The fields that Vertex rejects. Only Anthropic itself supports `cache_control` on the entire request, so it becomes a breakpoint on the last block.
 */
const REJECTED_FIELDS = ['anthropic_version', 'cache_control']

/** The betas that Vertex accepts in the header. It rejects all others. Sources: issues at https://github.com/BerriAI/litellm, 2026. */
const HEADER_BY_FIELD: Readonly<Record<string, string>> = {
  'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19',
  'compact-2026-01-12': 'compact-2026-01-12',
  'computer-use-2025-01-24': 'computer-use-2025-01-24',
  'computer-use-2025-11-24': 'computer-use-2025-11-24',
  'context-management-2025-06-27': 'context-management-2025-06-27',
  'interleaved-thinking-2025-05-14': 'interleaved-thinking-2025-05-14',
  'tool-search-tool-2025-10-19': 'tool-search-tool-2025-10-19',
  'web-search-2025-03-05': 'web-search-2025-03-05',
}

/** Matches betas that Vertex accepts only in the body. */
const BODY_BETA_PATTERN = /^context-1m-/

/** Removes the cache scope, which only Anthropic itself supports. The pattern can't match inside a string, because quotes in it are escaped. */
const removeScopes = (text: string): string =>
  text.replace(/"cache_control"\s*:\s*\{[^{}]*\}/g, (field) =>
    field.replace(/,\s*"scope"\s*:\s*"[^"]*"|"scope"\s*:\s*"[^"]*"\s*,?\s*/, ''),
  )

/** Converts a Gemini request for Vertex: with the publisher in the path, and without fields that only the Gemini API accepts. */
function toVertexGemini({ path, headers, body = '' }: UpstreamRequest): Omit<UpstreamRequest, 'query'> {
  const text = typeof body === 'string' ? body : decodeUtf8Lenient(body)
  const json = REMOVABLE_FIELDS.test(text) ? tryParseJson(text) : undefined
  return {
    path: `/publishers/google${path}`,
    headers,
    body: isObject(json) ? JSON.stringify(adaptGemini(json)) : text,
  }
}

/** Matches fields that may have to be removed. Most requests contain none of them and stay unchanged. */
const REMOVABLE_FIELDS = /"(?:id|store|generateContentRequest|generate_content_request)"\s*:/

/** Adapts the body to Vertex, which has no storage, counts only bare contents, and matches calls to results by name and order. */
function adaptGemini(json: JsonObject): JsonObject {
  const fullRequest = json.generateContentRequest ?? json.generate_content_request
  const { store: _, ...request } = isObject(fullRequest) ? pickFields(fullRequest, COUNTED_FIELD_PATTERN) : json
  const { contents } = request
  return Array.isArray(contents) ? { ...request, contents: contents.map(removeIds) } : request
}

const COUNTED_FIELD_PATTERN = /^(?:contents|system_?instruction|tools|generation_?config)$/i

const pickFields = (json: JsonObject, names: RegExp): JsonObject =>
  Object.fromEntries(Object.entries(json).filter(([name]) => names.test(name)))

function removeIds(content: unknown): unknown {
  if (!isObject(content) || !Array.isArray(content.parts)) return content
  const parts = content.parts.map((part: unknown) => {
    if (!isObject(part)) return part
    const callNames = CALL_FIELDS.filter((name) => isObject(part[name]))
    return { ...part, ...Object.fromEntries(callNames.map((name) => [name, removeId(part[name])])) }
  })
  return { ...content, parts }
}

const CALL_FIELDS = ['functionCall', 'function_call', 'functionResponse', 'function_response']

function removeId(call: unknown): unknown {
  if (!isObject(call)) return call
  const { id: _, ...otherFields } = call
  return otherFields
}

interface VertexCallOptions {
  target: Pick<ProviderTarget, 'model' | 'format'>
  data: ProviderSpecificData
  apiKey: string
  getToken: GetGoogleToken
  fetch: UpstreamFetch
}

/** Creates the call to the region's or the connection's URL. An API key needs no project. */
export async function createVertexCall(
  request: UpstreamRequest,
  { target, data, apiKey, getToken, fetch }: VertexCallOptions,
): Promise<UpstreamCall> {
  const { region = 'global' } = data
  const account = parseServiceAccount(apiKey)
  const project = data.project ?? account?.project
  const parent = project === undefined ? '' : `/projects/${project}/locations/${region}`
  const { path, headers, body = '' } = toVertexRequest(request, target)
  const version = target.format === 'gemini' ? 'v1beta1' : 'v1' // the same versions as in Google's and Anthropic's own clients
  const credential: Record<string, string> = API_KEY_PATTERN.test(apiKey)
    ? { 'x-goog-api-key': apiKey }
    : { authorization: `Bearer ${account ? await getToken(account, fetch) : apiKey}` }
  const baseUrl = `${data.baseUrl ? getRootUrl(data.baseUrl) : getRegionUrl(region)}/${version}${parent}`
  return createCall(baseUrl, { path, query: '', headers: { ...headers, ...credential }, body })
}

/** Calls Gemini and Claude in their own formats, under their publishers, and other models through the OpenAI-compatible endpoint. */
function toVertexRequest(
  request: UpstreamRequest,
  { model, format }: VertexCallOptions['target'],
): Omit<UpstreamRequest, 'query'> {
  if (format === 'gemini') return toVertexGemini(request)
  if (format === 'anthropic-messages') return toVertexClaude(request, model)
  return { ...request, path: `/endpoints/openapi${request.path}` }
}

/** Returns the URL of a region, a multi-region (`us`, `eu`), or `global`. */
function getRegionUrl(region: string): string {
  if (region === 'global') return 'https://aiplatform.googleapis.com'
  return /^(?:us|eu)$/.test(region)
    ? `https://aiplatform.${region}.rep.googleapis.com`
    : `https://${region}-aiplatform.googleapis.com`
}

const getRootUrl = (baseUrl: string) => trimTrailing(baseUrl.trim(), '/').replace(/\/v1(?:beta1)?$/, '')
