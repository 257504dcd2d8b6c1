import * as v from 'valibot'
import type { JsonObject } from '../../../src/lib/json.ts'
import type { Call } from '../../pipeline/support/upstream.ts'
import { json } from '../../pipeline/support/upstream.ts'

/** A fake rerank vendor that follows the documentation: it accepts its own fields, rejects all others, and responds in its own format. */
export interface RerankVendor {
  /** The provider's ID in the catalog, or the provider of a connection to the user's own server. */
  provider: string
  model: string
  /** The URL of the vendor's endpoint. */
  url: string
  /** The connection, if it needs more than the provider. */
  connection?: { apiKey?: string; providerSpecificData?: JsonObject }
  takes: v.GenericSchema<unknown, JsonObject>
  /** Rejects a request. `field` is the unsupported field. */
  refuse(field: string): Response
  respond(body: JsonObject, ranking: readonly Ranked[]): unknown
  /** The vendor's response headers, if they matter. */
  headers?: Record<string, string>
  /** Reads the query and the texts to rank from a request. */
  asked(body: JsonObject): { query: string; texts: string[]; top: number }
}

export interface Ranked {
  index: number
  score: number
  text: string
}

/** Returns a vendor's response to a call, or a 404 for any URL except the vendor's own. */
export function respondAsVendor(vendor: RerankVendor, { url, body, init }: Call): Response {
  if (url.href !== vendor.url || init.method !== 'POST') return json({ message: 'no such route' }, 404)
  const parsed = v.safeParse(vendor.takes, JSON.parse(body))
  if (!parsed.success) return vendor.refuse(v.getDotPath(parsed.issues[0]) ?? 'body')
  const { query, texts, top } = vendor.asked(parsed.output)
  return json(vendor.respond(parsed.output, rank(query, texts).slice(0, top)), 200, vendor.headers)
}

/** Ranks texts by the share of their words that occur in the query, best first. Ties keep their order. */
export function rank(query: string, texts: readonly string[]): Ranked[] {
  const words = new Set(query.toLowerCase().split(/\W+/))
  const scored = texts.map((text, index) => {
    const own = text.toLowerCase().split(/\W+/)
    return { index, text, score: own.filter((word) => words.has(word)).length / own.length }
  })
  return scored.sort((item, other) => other.score - item.score)
}

const count = v.pipe(v.number(), v.integer(), v.minValue(1))
const texts = v.array(v.string())
/** Voyage rejects empty texts. */
const filled = v.pipe(v.array(v.pipe(v.string(), v.nonEmpty())), v.minLength(1), v.maxLength(1_000))
const plain = { model: v.string(), query: v.pipe(v.string(), v.nonEmpty()) }

const getText = (document: unknown): string =>
  typeof document === 'string' ? document : String((document as { text?: string }).text ?? '')

/** Reads a request of a vendor that names the field `documents`. */
const createRequest = (body: JsonObject) => {
  const documents = body.documents as unknown[]
  return {
    query: body.query as string,
    texts: documents.map(getText),
    top: (body.top_n ?? body.top_k ?? documents.length) as number,
  }
}

const getResult = ({ index, score }: Ranked) => ({ index, relevance_score: score })
const getTokens = (body: JsonObject) => JSON.stringify(body).length

export const cohere: RerankVendor = {
  provider: 'cohere',
  model: 'rerank-v4.0-pro',
  url: 'https://api.cohere.com/v2/rerank',
  takes: v.strictObject({
    ...plain,
    documents: texts,
    top_n: v.optional(count),
    max_tokens_per_doc: v.optional(count),
    priority: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  }),
  refuse: (field) => json({ id: 'e1', message: `invalid request: parameter '${field}' is not valid.` }, 422),
  asked: createRequest,
  respond: ({ documents }, ranking) => ({
    id: '31337dd2-66cd-4d99-a7cf-f4879de260d1',
    results: ranking.map(getResult),
    meta: {
      api_version: { version: '2' },
      billed_units: { search_units: Math.ceil((documents as unknown[]).length / 100) },
    },
  }),
}

export const voyage: RerankVendor = {
  provider: 'voyage',
  model: 'rerank-2.5',
  url: 'https://api.voyageai.com/v1/rerank',
  takes: v.strictObject({
    ...plain,
    documents: filled,
    top_k: v.optional(count),
    return_documents: v.optional(v.boolean()),
    truncation: v.optional(v.boolean()),
  }),
  refuse: (field) => json({ detail: `Argument '${field}' is not supported by our API` }, 400),
  asked: createRequest,
  respond: (body, ranking) => ({
    object: 'list',
    data: ranking.map((ranked) => ({
      ...getResult(ranked),
      ...(body.return_documents === true && { document: ranked.text }),
    })),
    model: body.model,
    usage: { total_tokens: getTokens(body) },
  }),
}

export const jina: RerankVendor = {
  provider: 'jina',
  model: 'jina-reranker-v3',
  url: 'https://api.jina.ai/v1/rerank',
  takes: v.strictObject({
    ...plain,
    documents: v.array(
      v.union([v.string(), v.strictObject({ text: v.string() }), v.strictObject({ image: v.string() })]),
    ),
    top_n: v.optional(count),
    return_documents: v.optional(v.boolean()),
  }),
  refuse: (field) =>
    json({ detail: [{ loc: ['body', field], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' }] }, 422),
  asked: createRequest,
  respond: (body, ranking) => ({
    model: body.model,
    usage: { total_tokens: getTokens(body) },
    results: ranking.map((ranked) => ({
      ...getResult(ranked),
      ...(body.return_documents !== false && { document: { text: ranked.text } }),
    })),
  }),
}

export const together: RerankVendor = {
  provider: 'together',
  model: 'Salesforce/Llama-Rank-V1',
  url: 'https://api.together.ai/v1/rerank',
  takes: v.strictObject({
    ...plain,
    documents: v.union([texts, v.array(v.record(v.string(), v.unknown()))]),
    top_n: v.optional(count),
    rank_fields: v.optional(texts),
    return_documents: v.optional(v.boolean()),
  }),
  refuse: (field) =>
    json(
      { error: { message: `Unknown field ${field}`, type: 'invalid_request_error', param: field, code: null } },
      400,
    ),
  asked(body) {
    const fields = body.rank_fields as string[] | undefined
    const documents = (body.documents as Array<string | JsonObject>).map((document) =>
      typeof document === 'string'
        ? document
        : (fields ?? Object.keys(document)).map((name) => String(document[name] ?? '')).join(' '),
    )
    return createRequest({ ...body, documents })
  },
  respond: (body, ranking) => ({
    object: 'rerank',
    id: 'o1',
    model: body.model,
    results: ranking.map((ranked) => ({
      ...getResult(ranked),
      document: body.return_documents ? { text: ranked.text } : {},
    })),
    usage: { prompt_tokens: getTokens(body), completion_tokens: 0, total_tokens: getTokens(body) },
  }),
}

export const openrouter: RerankVendor = {
  provider: 'openrouter',
  model: 'voyageai/rerank-2.5-lite',
  url: 'https://openrouter.ai/api/v1/rerank',
  takes: v.strictObject({
    ...plain,
    documents: v.array(
      v.union([v.string(), v.strictObject({ text: v.optional(v.string()), image: v.optional(v.string()) })]),
    ),
    top_n: v.optional(count),
    provider: v.optional(v.record(v.string(), v.unknown())),
    user: v.optional(v.string()),
    session_id: v.optional(v.string()),
    trace: v.optional(v.record(v.string(), v.unknown())),
  }),
  refuse: (field) => json({ error: { code: 400, message: `${field}: Invalid input` } }, 400),
  asked: createRequest,
  respond: (body, ranking) => ({
    id: 'gen-rerank-1786406983-r7Duwy1aOVyb5oX9zh66',
    model: 'rerank-2.5-lite',
    provider: 'VoyageAI by MongoDB',
    results: ranking.map((ranked) => ({ ...getResult(ranked), document: { text: ranked.text } })),
    usage: { total_tokens: getTokens(body), cost: 3.4e-7 },
  }),
}

export const bedrock: RerankVendor = {
  provider: 'bedrock',
  model: 'cohere.rerank-v3-5:0',
  url: 'https://bedrock-agent-runtime.us-east-1.amazonaws.com/rerank',
  connection: { apiKey: 'bedrock-api-key-of-the-test', providerSpecificData: { region: 'us-east-1' } },
  takes: v.strictObject({
    queries: v.strictTuple([
      v.strictObject({
        type: v.literal('TEXT'),
        textQuery: v.strictObject({ text: v.pipe(v.string(), v.nonEmpty()) }),
      }),
    ]),
    sources: v.pipe(
      v.array(
        v.strictObject({
          type: v.literal('INLINE'),
          inlineDocumentSource: v.union([
            v.strictObject({
              type: v.literal('TEXT'),
              textDocument: v.strictObject({ text: v.pipe(v.string(), v.nonEmpty()) }),
            }),
            v.strictObject({ type: v.literal('JSON'), jsonDocument: v.record(v.string(), v.unknown()) }),
          ]),
        }),
      ),
      v.minLength(1),
      v.maxLength(1_000),
    ),
    rerankingConfiguration: v.strictObject({
      type: v.literal('BEDROCK_RERANKING_MODEL'),
      bedrockRerankingConfiguration: v.strictObject({
        numberOfResults: v.optional(v.pipe(count, v.maxValue(1_000))),
        modelConfiguration: v.strictObject({
          modelArn: v.pipe(v.string(), v.regex(/^arn:aws:bedrock:us-east-1::foundation-model\/[a-z]+\.rerank/)),
          additionalModelRequestFields: v.optional(v.record(v.string(), v.unknown())),
        }),
      }),
    }),
    nextToken: v.optional(v.string()),
  }) as v.GenericSchema<unknown, JsonObject>,
  refuse: (field) =>
    json({ message: `The value at ${field} is not valid.` }, 400, { 'x-amzn-errortype': 'ValidationException' }),
  asked(body) {
    const { queries, sources, rerankingConfiguration } = body as unknown as BedrockBody
    return {
      query: queries[0].textQuery.text,
      texts: sources.map(({ inlineDocumentSource: { textDocument, jsonDocument } }) =>
        textDocument ? textDocument.text : Object.values(jsonDocument ?? {}).join(' '),
      ),
      top: rerankingConfiguration.bedrockRerankingConfiguration.numberOfResults ?? sources.length,
    }
  },
  respond: (_, ranking) => ({ results: ranking.map(({ index, score }) => ({ index, relevanceScore: score })) }),
}

interface BedrockBody {
  queries: [{ textQuery: { text: string } }]
  sources: Array<{ inlineDocumentSource: { textDocument?: { text: string }; jsonDocument?: JsonObject } }>
  rerankingConfiguration: { bedrockRerankingConfiguration: { numberOfResults?: number } }
}

/** vLLM accepts all fields, and uses the ones it knows. */
export const vllm: RerankVendor = {
  provider: 'openai-compatible-vllm',
  model: 'BAAI/bge-reranker-v2-m3',
  url: 'http://vllm.test/v1/rerank',
  connection: { apiKey: 'secret-of-vllm', providerSpecificData: { baseUrl: 'http://vllm.test/v1' } },
  takes: v.looseObject({ ...plain, documents: texts, top_n: v.optional(v.pipe(v.number(), v.integer())) }),
  refuse: (field) => json({ object: 'error', message: field, type: 'BadRequestError', param: null, code: 400 }, 400),
  asked: createRequest,
  respond: (body, ranking) => ({
    id: 'rerank-1',
    model: body.model,
    usage: { prompt_tokens: getTokens(body), total_tokens: getTokens(body) },
    results: ranking.map((ranked) => ({
      index: ranked.index,
      document: { text: ranked.text },
      relevance_score: ranked.score,
    })),
  }),
}

/** Infinity returns each document as a plain string. */
export const infinity: RerankVendor = {
  provider: 'openai-compatible-infinity',
  model: 'mixedbread-ai/mxbai-rerank-base-v1',
  url: 'http://infinity.test/rerank',
  connection: { apiKey: 'secret-of-infinity', providerSpecificData: { baseUrl: 'http://infinity.test' } },
  takes: v.looseObject({
    ...plain,
    documents: v.pipe(texts, v.minLength(1)),
    top_n: v.optional(count),
    return_documents: v.optional(v.boolean()),
  }),
  refuse: (field) => json({ error: { message: field, type: '', param: null, code: 422 } }, 422),
  asked: createRequest,
  respond: (body, ranking) => ({
    object: 'rerank',
    results: ranking.map((ranked) => ({
      ...getResult(ranked),
      ...(body.return_documents === true && { document: ranked.text }),
    })),
    model: body.model,
    usage: { prompt_tokens: getTokens(body), total_tokens: getTokens(body) },
    id: 'infinity-1',
    created: 1_786_406_983,
  }),
}

/** The text-embeddings-inference server returns a bare list that contains all documents. */
export const tei: RerankVendor = {
  provider: 'openai-compatible-tei',
  model: 'BAAI/bge-reranker-large',
  url: 'http://tei.test/rerank',
  connection: { apiKey: 'secret-of-tei', providerSpecificData: { baseUrl: 'http://tei.test', format: 'tei' } },
  takes: v.strictObject({
    query: v.pipe(v.string(), v.nonEmpty()),
    texts: v.pipe(texts, v.minLength(1)),
    raw_scores: v.optional(v.boolean()),
    return_text: v.optional(v.boolean()),
    truncate: v.optional(v.boolean()),
    truncation_direction: v.optional(v.picklist(['left', 'right', 'Left', 'Right'])),
  }),
  refuse: (field) => json({ error: `unknown field ${field}`, error_type: 'Validation' }, 422),
  asked: (body) => ({
    query: body.query as string,
    texts: body.texts as string[],
    top: (body.texts as string[]).length,
  }),
  respond: (_, ranking) => ranking.map(({ index, score }) => ({ index, score })),
  headers: { 'x-compute-type': 'cpu', 'x-compute-tokens': '17', 'x-compute-characters': '60' },
}

export const rerankVendors = { cohere, voyage, jina, together, openrouter, bedrock, vllm, infinity, tei }
