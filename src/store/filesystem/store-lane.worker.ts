import { wallMicros } from "../../platform/wall-micros.ts";
import { systemDisk } from "./disk.ts";
import { serveLane } from "./serve-lane.ts";

serveLane(systemDisk, { wallMicros });
