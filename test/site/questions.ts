/** What users of other gateways look for, and the page that answers it. */
export const QUESTIONS: [question: string, page: string][] = [['portkey alternative', 'project/comparison']]
