import { once } from '../../lib/promises.ts'
import { aiSdkEndpoints, type KindEndpoint, kindEndpoint, kindOperation } from '../endpoint.ts'

const operation = kindOperation({ name: 'embed', kind: 'embedding' })
const loadForms = once(async () => (await import('./forms.ts')).embeddingForms)

const words = (vendor: string, reference: string) => ({ summary: 'Embed texts', vendor, reference })

const google = (version: string, method: string, client: string): KindEndpoint =>
  kindEndpoint({
    path: `/${version}/models/{model}:${method}`,
    format: 'gemini',
    client,
    operation,
    loadForms,
    words: words('Gemini', 'https://ai.google.dev/api/embeddings'),
  })

/** Where texts are embedded. Google's clients call either version of its API. */
export const embeddingEndpoints: readonly KindEndpoint[] = [
  kindEndpoint({
    path: '/v1/embeddings',
    format: 'openai-chat',
    client: 'openai',
    operation,
    loadForms,
    words: words('OpenAI', 'https://platform.openai.com/docs/api-reference/embeddings'),
  }),
  kindEndpoint({
    path: '/v2/embed',
    format: 'openai-chat',
    client: 'cohere',
    operation,
    loadForms,
    messageIn: ['message'], // as Cohere has it
    words: words('Cohere', 'https://docs.cohere.com/reference/embed'),
  }),
  ...aiSdkEndpoints('embedding-model', {
    operation,
    loadForms,
    summary: 'Embed texts',
    page: 'embeddings',
  }),
  ...['v1beta', 'v1'].flatMap((version) => [
    google(version, 'embedContent', 'gemini'),
    google(version, 'batchEmbedContents', 'gemini-batch'),
  ]),
]
