import type { KindSample } from '../samples.ts'

export const moderation: KindSample = {
  bodies: { openai: { input: ['a walk'] } },
  path: '/moderations',
  response: {
    id: 'modr-1',
    model: 'm',
    results: [
      {
        flagged: false,
        categories: { violence: false },
        category_scores: { violence: 0.01 },
        category_applied_input_types: { violence: ['text'] },
      },
    ],
  },
}
