import type { ProviderTarget } from '../../../providers/target.ts'
import { rerankVendor } from '../vendor.ts'

/**
 * The rerank models of Amazon and Cohere at AWS Bedrock, which serves them apart from its chat. It charges a search for up to a hundred
 * documents, and does not say so. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_Rerank.html
 */
export const bedrock = rerankVendor({
  name: 'bedrock',
  isOf: ({ cloud }) => cloud === 'bedrock',
  service: 'bedrock-agent-runtime',
  mostDocuments: 1_000,
  takes: ['max_tokens_per_doc'],
  body({ query, plain, topN, options, model }, { target, warnings }) {
    const isCoheres = model.includes('cohere.')
    if (!isCoheres) for (const name of Object.keys(options)) warnings.noteDropped(name)
    return {
      queries: [{ type: 'TEXT', textQuery: { text: query } }],
      sources: plain.map((text) => ({
        type: 'INLINE',
        inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
      })),
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: {
          numberOfResults: topN,
          modelConfiguration: {
            modelArn: arnOf(target),
            ...(isCoheres && Object.keys(options).length > 0 && { additionalModelRequestFields: options }),
          },
        },
      },
    }
  },
  unsaid: ({ documents }) => ({
    inputTokens: 0,
    outputTokens: 0,
    units: { search: Math.ceil(documents.length / 100) },
  }),
})

/** The name by which the model travels; a whole ARN stays as it is. */
function arnOf({ model, connection }: ProviderTarget): string {
  if (model.startsWith('arn:')) return model
  const { region = '' } = connection.providerSpecificData ?? {}
  const partition = region.startsWith('cn-') ? 'aws-cn' : region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'
  return `arn:${partition}:bedrock:${region}::foundation-model/${model}`
}
