import { kindForms } from '../carry.ts'
import { aiSdk } from './clients/ai-sdk.ts'
import { cohere as cohereClient } from './clients/cohere.ts'
import { gemini, geminiBatch } from './clients/gemini.ts'
import { openai as openaiClient } from './clients/openai.ts'
import { embedDivision } from './embedding.ts'
import { bedrockCohere, bedrockNova, bedrockTitan } from './vendors/bedrock.ts'
import { cohere } from './vendors/cohere.ts'
import { google } from './vendors/google.ts'
import { jina } from './vendors/jina.ts'
import { mistral } from './vendors/mistral.ts'
import { nvidia } from './vendors/nvidia.ts'
import { compatible, local, openai } from './vendors/openai.ts'
import { openrouter } from './vendors/openrouter.ts'
import { together } from './vendors/together.ts'
import { vertex, vertexOne } from './vendors/vertex.ts'
import { voyage } from './vendors/voyage.ts'

/** The forms of embeddings. */
export const embeddingForms = kindForms({
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
    local,
    openai,
    openrouter,
    together,
    vertex,
    vertexOne,
    voyage,
  ],
  otherwise: compatible,
  division: embedDivision,
  countsTokens: true,
})
