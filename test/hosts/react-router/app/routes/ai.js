import { gateway } from '../gateway.js'

export const loader = ({ request }) => gateway.fetch(request)
export const action = loader
