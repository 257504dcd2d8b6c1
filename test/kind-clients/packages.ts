import { createRequire } from 'node:module'

/*
 * Loads the clients that are only installed in this folder. Their types are declared here as far as the tests use them, because the packages' types
 * only exist after installation.
 */

const require = createRequire(import.meta.url)

interface CohereResult {
  index: number
  relevanceScore: number
  document?: { text: string }
}

interface CohereResponse {
  id?: string
  results: CohereResult[]
  meta?: { apiVersion?: { version: string } }
}

interface CohereRequest {
  model: string
  query: string
  topN?: number
}

type NoRetries = { maxRetries: 0 }

interface Cohere {
  rerank(
    request: CohereRequest & { documents: unknown[]; returnDocuments?: boolean; rankFields?: string[] },
    options?: NoRetries,
  ): Promise<CohereResponse>
  readonly v2: {
    rerank(request: CohereRequest & { documents: string[] }, options?: NoRetries): Promise<CohereResponse>
  }
}

/** The errors of clients that Fern generates. */
interface FernError {
  readonly statusCode: number
  readonly body: unknown
}

type ErrorClass = new (...args: never[]) => FernError

export const { CohereClient, CohereError } = require('cohere-ai') as {
  CohereClient: new (options: { environment: string; token: string }) => Cohere
  CohereError: ErrorClass
}

interface Voyage {
  rerank(
    request: { model: string; query: string; documents: string[]; topK?: number; returnDocuments?: boolean },
    options?: NoRetries,
  ): Promise<{
    data?: Array<{ index?: number; relevanceScore?: number; document?: string }>
    usage?: { totalTokens?: number }
  }>
}

export const { VoyageAIClient, VoyageAIError } = require('voyageai') as {
  VoyageAIClient: new (options: { environment: string; apiKey: string }) => Voyage
  VoyageAIError: ErrorClass
}
