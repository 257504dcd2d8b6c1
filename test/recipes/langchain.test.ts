import { converses } from './agents.ts'

converses('langchain')
