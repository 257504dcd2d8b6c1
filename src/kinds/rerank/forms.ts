import { kindForms } from '../carry.ts'
import { clients } from './clients.ts'
import { compatible } from './vendors/compatible.ts'
import * as vendors from './vendors.ts'

/** The forms of reranking. */
export const rerankForms = kindForms({ clients, vendors: Object.values(vendors), otherwise: compatible })
