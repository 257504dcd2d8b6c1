import { addAgentRecipeTests } from './agents.ts'

addAgentRecipeTests('genkit', 'RESOURCE_EXHAUSTED')
