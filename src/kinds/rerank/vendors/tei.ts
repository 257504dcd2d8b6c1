import { rerankVendor } from '../vendor.ts'

/**
 * The server text-embeddings-inference, which ranks by the one model that it has loaded, answers with a list of all documents, and refuses texts
 * that are too long unless it may cut them. https://huggingface.github.io/text-embeddings-inference
 */
export const tei = rerankVendor({
  name: 'tei',
  base: (address) => address.replace(/\/v1$/, ''), // where its embeddings are, but not this
  takes: ['truncation'],
  arraysAs: 'results',
  usageIn(header) {
    const tokens = Number(header('x-compute-tokens') ?? Number.NaN)
    return Number.isInteger(tokens) ? { inputTokens: tokens, outputTokens: 0 } : undefined
  },
  body: ({ query, plain, options: { truncation = true } }) => ({ query, texts: plain, truncate: truncation }),
})
