/** The descriptions of an endpoint that differ from its format's. */
interface EndpointDocs {
  summary: string
  vendor: string
  reference: string
}

/** Returns an endpoint's own descriptions, or `undefined` if it uses its format's. */
export function findEndpointDocs(path: string): EndpointDocs | undefined {
  return docsByPath.find(([pattern]) => pattern.test(path))?.[1]
}

const AI_SDK_DOCS = 'https://ai-sdk.dev/docs/ai-sdk-core'
const OPENAI_DOCS = 'https://platform.openai.com/docs/api-reference'

const createRow = (path: RegExp, summary: string, vendor: string, reference: string): [RegExp, EndpointDocs] => [
  path,
  { summary, vendor, reference },
]

/** Endpoint descriptions by path, without the base path. */
const docsByPath: ReadonlyArray<[RegExp, EndpointDocs]> = [
  createRow(/\/ai\/embedding-model$/, 'Embed text', 'AI SDK', `${AI_SDK_DOCS}/embeddings`),
  createRow(/\/ai\/reranking-model$/, 'Rerank documents by a query', 'AI SDK', `${AI_SDK_DOCS}/reranking`),
  createRow(/\/ai\/image-model$/, 'Generate or edit images', 'AI SDK', `${AI_SDK_DOCS}/image-generation`),
  createRow(/\/ai\/speech-model$/, 'Generate speech', 'AI SDK', `${AI_SDK_DOCS}/speech`),
  createRow(/\/ai\/transcription-model$/, 'Transcribe audio', 'AI SDK', `${AI_SDK_DOCS}/transcription`),
  createRow(/:(?:embedContent|batchEmbedContents)$/, 'Embed text', 'Gemini', 'https://ai.google.dev/api/embeddings'),
  createRow(/^\/v1\/embeddings$/, 'Embed text', 'OpenAI', `${OPENAI_DOCS}/embeddings`),
  createRow(/^\/v2\/embed$/, 'Embed text', 'Cohere', 'https://docs.cohere.com/reference/embed'),
  createRow(/^\/v1\/rerank$/, 'Rerank documents by a query', 'Cohere', 'https://docs.cohere.com/v1/reference/rerank'),
  createRow(/^\/v2\/rerank$/, 'Rerank documents by a query', 'Cohere', 'https://docs.cohere.com/reference/rerank'),
  createRow(/^\/v1\/images\/generations$/, 'Generate images', 'OpenAI', `${OPENAI_DOCS}/images`),
  createRow(/^\/v1\/images\/edits$/, 'Edit images', 'OpenAI', `${OPENAI_DOCS}/images`),
  createRow(/^\/v1\/audio\/speech$/, 'Generate speech', 'OpenAI', `${OPENAI_DOCS}/audio/createSpeech`),
  createRow(/^\/v1\/audio\/transcriptions$/, 'Transcribe audio', 'OpenAI', `${OPENAI_DOCS}/audio`),
  createRow(/^\/v1\/audio\/translations$/, 'Translate audio to English', 'OpenAI', `${OPENAI_DOCS}/audio`),
  createRow(/^\/v1\/moderations$/, 'Moderate text and images', 'OpenAI', `${OPENAI_DOCS}/moderations`),
  createRow(/^\/v1\/ocr$/, 'Extract the text of a document', 'Mistral', 'https://docs.mistral.ai/api/endpoint/ocr'),
  createRow(/^\/v1\/search/, 'Search the web', 'Perplexity', 'https://docs.perplexity.ai/api-reference/search-post'),
  createRow(
    /^\/v1\/web\/fetch$/,
    'Fetch the text of web pages',
    'Jina, Firecrawl, Tavily and Exa',
    'https://docs.jina.ai/',
  ),
]
