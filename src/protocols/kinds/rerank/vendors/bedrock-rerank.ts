import type { ProviderTarget } from '../../../providers/target.ts'
import { createRerankAdapter } from '../rerank-vendor.ts'

/**
 * Amazon's and Cohere's rerank models on AWS Bedrock. AWS charges one search per hundred documents, but doesn't report it.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_Rerank.html
 */
export const bedrock = createRerankAdapter({
  name: 'bedrock',
  matches: ({ cloud }) => cloud === 'bedrock',
  service: 'bedrock-agent-runtime',
  maxDocuments: 1_000,
  supports: ['max_tokens_per_doc'],
  writeBody({ query, vendorDocuments, topN, options, model }, { target, warnings }) {
    const isCohereModel = model.includes('cohere.')
    if (!isCohereModel) for (const name of Object.keys(options)) warnings.recordDrop(name)
    return {
      queries: [{ type: 'TEXT', textQuery: { text: query } }],
      sources: vendorDocuments.map((text) => ({
        type: 'INLINE',
        inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
      })),
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: {
          numberOfResults: topN,
          modelConfiguration: {
            modelArn: getModelArn(target),
            ...(isCohereModel && Object.keys(options).length > 0 && { additionalModelRequestFields: options }),
          },
        },
      },
    }
  },
  estimateUsage: ({ documents }) => ({
    inputTokens: 0,
    outputTokens: 0,
    units: { search: Math.ceil(documents.length / 100) },
  }),
})

function getModelArn({ model, connection }: ProviderTarget): string {
  if (model.startsWith('arn:')) return model
  const { region = '' } = connection.providerSpecificData ?? {}
  const partition = region.startsWith('cn-') ? 'aws-cn' : region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'
  return `arn:${partition}:bedrock:${region}::foundation-model/${model}`
}
