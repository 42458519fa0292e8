// Nothing is called: that the target is linked is enough.
#pragma once
