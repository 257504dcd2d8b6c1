import { gateway } from '../../gateway.js'

export const prerender = false
export const ALL = ({ request }) => gateway.fetch(request)
