import { createKindAdapters } from '../create-kind-adapters.ts'
import { aiSdk } from './clients/ai-sdk-embedding-client.ts'
import { cohere as cohereClient } from './clients/cohere-embedding-client.ts'
import { gemini, geminiBatch } from './clients/gemini-embedding-client.ts'
import { openai as openaiClient } from './clients/openai-embedding-client.ts'
import { embeddingSplitter } from './embedding.ts'
import { bedrockCohere, bedrockNova, bedrockTitan } from './vendors/bedrock-embedding.ts'
import { cohere } from './vendors/cohere-embedding.ts'
import { google } from './vendors/google-embedding.ts'
import { jina } from './vendors/jina-embedding.ts'
import { mistral } from './vendors/mistral-embedding.ts'
import { nvidia } from './vendors/nvidia-embedding.ts'
import { localServer, openai, openaiCompatible } from './vendors/openai-embedding.ts'
import { openrouter } from './vendors/openrouter-embedding.ts'
import { together } from './vendors/together-embedding.ts'
import { vertex, vertexSingleInput } from './vendors/vertex-embedding.ts'
import { voyage } from './vendors/voyage-embedding.ts'

/** The adapters for embeddings. */
export const embeddingAdapters = createKindAdapters({
  clients: { openai: openaiClient, cohere: cohereClient, gemini, 'gemini-batch': geminiBatch, 'ai-sdk': aiSdk },
  vendors: [
    bedrockCohere,
    bedrockNova,
    bedrockTitan,
    cohere,
    google,
    jina,
    mistral,
    nvidia,
    localServer,
    openai,
    openrouter,
    together,
    vertex,
    vertexSingleInput,
    voyage,
  ],
  fallback: openaiCompatible,
  splitter: embeddingSplitter,
  estimatesTokens: true,
})
