import { converses } from './agents.ts'

converses('genkit', 'RESOURCE_EXHAUSTED')
