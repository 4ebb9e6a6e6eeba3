/** Injection token of the checked options. */
export const CONSOLE_SETTINGS = Symbol('gatekeeper console: settings');

/** Metadata key of a handler's route description. */
export const ROUTE_METADATA = 'gatekeeper:route';

/** Property of a request with its sender. */
export const VISITOR = Symbol('gatekeeper: visitor');
