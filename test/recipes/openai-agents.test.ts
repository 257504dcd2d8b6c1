import { addAgentRecipeTests } from './agents.ts'

addAgentRecipeTests('openai-agents')
